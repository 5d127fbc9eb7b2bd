"""The audit as the page shows it: the face to ask about next, and how wrong the names are."""

from __future__ import annotations

from pydantic import BaseModel

from candidly.photos.auditing import Audit, AuditResult
from candidly.photos.auditing.sample import is_drawn
from candidly.photos.project import Project


class AuditQuestion(BaseModel):
    """A face, and the name that is right or wrong; ``seen`` is the last decision in the project."""

    face: int
    photo: int
    name: str
    seen: int


class AuditView(BaseModel):
    """What an audit knows; None where no names were drawn yet.

    ``question`` is None where enough was asked. At most ``most`` questions are asked.
    """

    result: AuditResult | None = None
    question: AuditQuestion | None = None
    most: int = 0


def audit_view(project: Project) -> AuditView:
    """Return the audit that was drawn last, with its next question."""
    with project.snapshot() as sql:
        if not is_drawn(sql):
            return AuditView()
        audit = Audit(project)
        result = audit.result()
        asked = None if audit.precise(known=result) else audit.next_question()
        question = None
        if asked is not None:
            photo, seen = sql.execute(
                "SELECT photo, (SELECT coalesce(max(id), 0) FROM decisions) FROM faces"
                " WHERE id = ?",
                (asked.face,),
            ).fetchone()
            question = AuditQuestion(face=asked.face, photo=photo, name=asked.name, seen=seen)
        return AuditView(result=result, question=question, most=audit.most)
