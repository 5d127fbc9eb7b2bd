"""The application behind the page: a JSON API over one project, described by OpenAPI."""

from __future__ import annotations

import mimetypes
import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query, Request
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles

from candidly import __version__
from candidly.photos.auditing import Audit
from candidly.photos.auditing.sample import is_drawn
from candidly.photos.explaining import explain
from candidly.photos.geometry import Box
from candidly.photos.project import Project, ProjectProblem
from candidly.photos.project.deciding import this_user
from candidly.photos.project.decision_log import (
    numbers_about_face,
    numbers_about_name,
    read_decisions,
)
from candidly.photos.project.known_names import current_name, known_name
from candidly.photos.project.store import draw_face
from candidly.photos.reporting.report_file import picture_of
from candidly.photos.review import bodies
from candidly.photos.review.access import ProjectAccess
from candidly.photos.review.audit_view import AuditView, audit_view
from candidly.photos.review.drawing import FaceEmbedder, project_models
from candidly.photos.review.jobs import (
    ORDERED,
    SMALL,
    Job,
    group_unnamed,
    order_questions,
    solve_again,
)
from candidly.photos.review.log_view import days, decision_view, decisions_page, effort
from candidly.photos.review.lookalikes import Lookalikes
from candidly.photos.review.persons import (
    NameIndex,
    PersonView,
    complete_names,
    people_rows,
    person_view,
)
from candidly.photos.review.photo_view import PhotoView, bound_name, photo_view, shown
from candidly.photos.review.picture_cache import SIDES, PictureCache
from candidly.photos.review.questions import QueueFilter, folders, next_photos
from candidly.photos.review.unnamed import still_unnamed

PAGE = Path(__file__).parent / "page"
MOST_CHANGES = 200
MOST_FOLDERS = 200
GROUP_FACES = 60
"""Faces of a group that are shown."""
KEEP = {"Cache-Control": "private, max-age=3600"}
"""Pictures are of numbers that never mean another picture."""

FaceNumber = Annotated[int, InPath(ge=0, le=bodies.LARGEST)]
Offset = Annotated[int, Query(ge=0, le=bodies.LARGEST)]


class Refusal(Exception):  # noqa: N818  reads as what it is
    """Something that is not done, with the status and the answer."""

    def __init__(self, status: int, answer: bodies.ProblemTold) -> None:
        super().__init__(answer.problem)
        self.status, self.answer = status, answer


class Review:
    """One project that is reviewed: its threads, its pictures, and the work beside the page.

    Parameters
    ----------
    path : Path or None
        The project file, which has to exist; None for the one in the user's data folder.
    """

    def __init__(self, path: Path | None) -> None:
        self.access = ProjectAccess(path)
        self.path = self.access.path
        self.alike, self.pictures, self.embedder = Lookalikes(), PictureCache(), FaceEmbedder()
        self.names = NameIndex()
        self.solving = Job(solve_again)
        self.ordering = Job(order_questions)
        self.grouping = Job(group_unnamed)
        with Project.open(self.path) as project:
            faces = project.count("faces")
        self.small, self._ordered = faces <= SMALL, faces <= ORDERED
        self.indexing = Job(lambda path, _: self.alike.build(path))
        self.indexing.start(self.path, small=True)
        self.work_again()
        if self.small:  # a moment, and the first question is the best one
            self.indexing.wait()
            self.ordering.wait()

    def work_again(self, _: object = None) -> None:
        """Order the questions again, and forget groups, after names changed."""
        self.grouping.result = None
        if self._ordered:
            self.ordering.start(self.path, self.small)

    def close(self) -> None:
        """End all work, and release the project."""
        for job in (self.solving, self.ordering, self.grouping, self.indexing):
            job.stop()
        self.alike.close()
        self.access.close()


def make_app(review: Review) -> FastAPI:
    """Return the application; ``guard.Guard`` belongs around it."""
    mimetypes.add_type("text/javascript", ".js")  # some systems say otherwise
    app = FastAPI(
        title="Candidly review",
        version=__version__,
        description="Questions about faces, and decisions on them, in one project.",
        docs_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False},
        redoc_url=None,
        responses={
            403: {"model": bodies.ProblemTold, "description": "Not from this page"},
            422: {"model": bodies.ProblemTold, "description": "Not a request of this form"},
        },
    )
    _add_errors(app)
    _add_questions(app, review)
    _add_decisions(app, review)
    _add_audit(app, review)
    _add_people(app, review)
    _add_history(app, review)
    _add_photos(app, review)
    _add_solving(app, review)

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(PAGE / "index.html", headers={"Cache-Control": "no-cache"})

    app.mount("/page", StaticFiles(directory=PAGE), name="page")
    return app


def _add_errors(app: FastAPI) -> None:
    def answer(status: int, problem: str) -> JSONResponse:
        return JSONResponse(bodies.ProblemTold(problem=shown(problem)).model_dump(), status)

    @app.exception_handler(Refusal)
    async def refused(_: Request, problem: Refusal) -> JSONResponse:
        return JSONResponse(problem.answer.model_dump(), problem.status)

    @app.exception_handler(ProjectProblem)
    async def impossible(_: Request, problem: ProjectProblem) -> JSONResponse:
        broken = isinstance(problem.__cause__, sqlite3.Error)
        return answer(503 if broken else 409, str(problem))

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, problem: RequestValidationError) -> JSONResponse:
        said = [
            f"{'.'.join(str(part) for part in one['loc'][1:])}: {one['msg']}"
            for one in problem.errors()[:5]
        ]
        return answer(422, "; ".join(said) or "this is no request of this kind")


def _described(*more: tuple[int, str]) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": bodies.ProblemTold, "description": text} for status, text in more}


MISSING = (404, "There is no such thing in the project")
CHANGED = (409, "Somebody decided otherwise meanwhile, or it cannot be done")


def _missing(what: str) -> Refusal:
    return Refusal(404, bodies.ProblemTold(problem=f"there is no {what} in this project"))


# Questions


def _add_questions(app: FastAPI, review: Review) -> None:
    @app.get("/api/status")
    async def status() -> bodies.ReviewStatus:
        """Return the project, and how far it is."""

        def read(project: Project) -> bodies.ReviewStatus:
            with project.snapshot() as sql:
                (last,) = sql.execute("SELECT coalesce(max(id), 0) FROM decisions").fetchone()
                return bodies.ReviewStatus(
                    project=shown(project.path.stem),
                    last=last,
                    effort=effort(sql),
                    solving=review.solving.running,
                )

        return await review.access.read(read)

    @app.get("/api/folders")
    async def all_folders() -> bodies.FolderList:
        """Return the folders of photos."""

        def read(project: Project) -> bodies.FolderList:
            with project.snapshot() as sql:
                found = [shown(one) for one in folders(sql, MOST_FOLDERS)]
            return bodies.FolderList(folders=found)

        return await review.access.read(read)

    @app.get("/api/queue")
    async def queue(
        week: bool = False,
        folder: bodies.Words = "",
        person: bodies.Words = "",
        only: Literal["", "sure", "conflicts"] = "",
        poor: bool = False,
        most: Annotated[int, Query(ge=1, le=1000)] = 20,
    ) -> bodies.Questions:
        """Return the photos to ask about next."""
        chosen = QueueFilter(week, folder, person, only, poor)
        order = review.ordering.result

        def read(project: Project) -> bodies.Questions:
            with project.snapshot() as sql:
                asked = [
                    bodies.AskedPhoto(photo=photo, faces=faces)
                    for photo, faces in next_photos(sql, chosen, order, most).items()
                ]
            return bodies.Questions(photos=asked, settled=order is not None)

        return await review.access.read(read)

    @app.get("/api/faces/{face}/why", responses=_described(MISSING))
    async def why(face: FaceNumber) -> bodies.Why:
        """Return why a face has its name, or none."""

        def read(project: Project) -> bodies.Why:
            with project.snapshot() as sql:
                if not _has(sql, "faces", face):
                    raise _missing(f"face {face}")
                found = explain(project, face)
            return bodies.Why(
                face=face,
                name=found.name,
                source=shown(found.source),
                reasons=[shown(text) for text in found.reasons],
                alike=[
                    bodies.WhyFace(
                        face=one.face,
                        name=one.name,
                        file=shown(one.file),
                        cosine=one.cosine,
                        confidence=one.confidence,
                        confirmed=one.confirmed,
                        caption=one.caption,
                    )
                    for one in (*found.alike, *filter(None, [found.lookalike]))
                ],
                others=[
                    bodies.WhyNot(
                        name=one.name, probability=one.probability, because=shown(one.because)
                    )
                    for one in found.others
                ],
            )

        return await review.access.read(read)


def _has(sql: sqlite3.Connection, table: str, number: int) -> bool:
    return sql.execute(f"SELECT 1 FROM {table} WHERE id = ?", (number,)).fetchone() is not None


# Decisions


def _add_decisions(app: FastAPI, review: Review) -> None:
    @app.post("/api/decisions", responses=_described(MISSING, CHANGED))
    async def decide(body: bodies.FaceDecisions) -> bodies.Made:
        """Decide about faces; the answer comes after it is stored."""
        if (body.what in ("is", "not")) != (body.name is not None):
            says = "takes a name" if body.name is None else "takes no name"
            raise Refusal(422, bodies.ProblemTold(problem=f"{body.what} {says}"))

        def write(project: Project) -> bodies.Made:
            faces = [one.face for one in body.faces]
            with project.snapshot() as sql:
                _check_seen(sql, body.faces)
                if body.what == "is" and body.name is not None and not body.even_so:
                    _check_taken(sql, faces, body.name)
            numbers = project.decide_faces(body.what, faces, body.name)
            return _made(project, review, numbers, faces)

        return await review.access.write(write)

    @app.post("/api/undo", responses=_described(CHANGED))
    async def undo(body: bodies.Undo) -> bodies.Made:
        """Take decisions back, or what took them back."""

        def write(project: Project) -> bodies.Made:
            numbers = project.undo(*body.numbers)
            with project.snapshot() as sql:
                faces = list(_faces_behind(sql, numbers))
            return _made(project, review, numbers, faces)

        return await review.access.write(write)


def _made(
    project: Project, review: Review, numbers: list[int], faces: Sequence[int]
) -> bodies.Made:
    """Return what was decided, with the photo if it is about one."""
    view = None
    with project.snapshot() as sql:
        photos = {
            sql.execute("SELECT photo FROM faces WHERE id = ?", (face,)).fetchone()[0]
            for face in faces[:2]
        }
        if len(photos) == 1 and len(faces) <= 2:
            view = photo_view(project, photos.pop(), review.alike)
    return bodies.Made(numbers=numbers, photo=view)


def _faces_behind(sql: sqlite3.Connection, undos: Iterable[int]) -> Iterable[int]:
    """Yield the faces of the decisions that undos are about, directly or through other undos."""
    for number in undos:
        row: tuple[int | None, int | None] = (None, number)
        while row[0] is None and row[1] is not None:
            row = sql.execute(
                "SELECT face, undoes FROM decisions WHERE id = ?", (row[1],)
            ).fetchone()
        if row[0] is not None:
            yield row[0]


def _check_seen(sql: sqlite3.Connection, faces: Iterable[bodies.SeenFace]) -> None:
    """Refuse to decide about faces that do not exist, or of which the user has not seen all."""
    since: list[int] = []
    for one in faces:
        if not _has(sql, "faces", one.face):
            raise _missing(f"face {one.face}")
        since += [number for number in numbers_about_face(sql, one.face) if number > one.seen]
    _refuse_since(sql, since)


def _check_name_seen(sql: sqlite3.Connection, name: str, seen: int) -> None:
    """Refuse to decide about a person who was renamed or merged since."""
    _refuse_since(sql, [number for number in numbers_about_name(sql, name) if number > seen])


def _refuse_since(sql: sqlite3.Connection, since: Iterable[int]) -> None:
    happened = [decision_view(sql, one) for one in read_decisions(sql, since)]
    if happened:
        text = "somebody decided about this meanwhile, perhaps in another tab"
        raise Refusal(409, bodies.ProblemTold(problem=text, happened=happened))


def _check_taken(sql: sqlite3.Connection, faces: Sequence[int], name: str) -> None:
    """Refuse a name that another face of the photo has by a decision or by metadata."""
    known = current_name(sql, name) or name
    chosen: set[int] = set()
    places: list[int] = []
    for face in faces:
        (photo,) = sql.execute("SELECT photo FROM faces WHERE id = ?", (face,)).fetchone()
        if photo in chosen:
            text = f"two of these faces are in one photo, and cannot both be {known}"
            raise Refusal(409, bodies.ProblemTold(problem=text, taken=[0]))
        chosen.add(photo)
        rows = sql.execute("SELECT id FROM faces WHERE photo = ? ORDER BY x, id", (photo,))
        places += [
            place
            for place, (other,) in enumerate(rows.fetchall(), 1)
            if other != face and bound_name(sql, other) == known
        ]
    if places:
        text = f"another face of the photo is {known} already"
        raise Refusal(409, bodies.ProblemTold(problem=text, taken=places))


# Audit

RIGHT = {"right": True, "wrong": False, "unsure": None}


def _add_audit(app: FastAPI, review: Review) -> None:
    @app.get("/api/audit")
    async def audit() -> AuditView:
        """Return the next question of the audit, and how wrong the names are."""
        return await review.access.read(audit_view)

    @app.post("/api/audit")
    async def draw_names() -> AuditView:
        """Draw the names to ask about, unless that was done."""

        def write(project: Project) -> AuditView:
            Audit(project)
            return audit_view(project)

        return await review.access.write(write)

    @app.post("/api/audit/answers", responses=_described(MISSING, CHANGED))
    async def answer(body: bodies.AuditAnswer) -> bodies.Made:
        """Answer whether a name is right; the answer comes after it is stored."""

        def write(project: Project) -> bodies.Made:
            with project.snapshot() as sql:
                _check_seen(sql, [body])
                if not is_drawn(sql):
                    text = "no names were drawn to ask about"
                    raise Refusal(409, bodies.ProblemTold(problem=text))
                made = Audit(project)
                name = made.question(body.face).name
                _check_name_seen(sql, name, body.seen)
                if body.answer == "right" and not body.even_so:
                    _check_taken(sql, [body.face], name)
            if body.answer == "open":
                made.ask_again(body.face)
                return bodies.Made(numbers=[])
            number = made.answer(body.face, right=RIGHT[body.answer])
            return bodies.Made(numbers=[] if number is None else [number])

        return await review.access.write(write)


# People


def _add_people(app: FastAPI, review: Review) -> None:
    @app.get("/api/names")
    async def names(
        find: bodies.Words = "", most: Annotated[int, Query(ge=1, le=100)] = 12
    ) -> bodies.NameList:
        """Return names that have words beginning like those given."""

        def read(project: Project) -> bodies.NameList:
            with project.snapshot() as sql:
                return bodies.NameList(
                    names=complete_names(review.names.finding(sql, find), find, most)
                )

        return await review.access.read(read)

    @app.get("/api/people")
    async def people(
        find: bodies.Words = "",
        order: Literal["doubt", "name"] = "doubt",
        offset: Offset = 0,
        most: Annotated[int, Query(ge=1, le=100)] = 30,
    ) -> bodies.PeopleList:
        """Return people with their numbers of faces."""

        def read(project: Project) -> bodies.PeopleList:
            with project.snapshot() as sql:
                total, rows = people_rows(sql, review.names, find, order, offset, most)
            return bodies.PeopleList(total=total, people=rows)

        return await review.access.read(read)

    @app.get("/api/person", responses=_described(MISSING))
    async def person(name: Annotated[str, Query(min_length=1, max_length=200)]) -> PersonView:
        """Return a person's faces, the most doubtful first."""

        def read(project: Project) -> PersonView:
            with project.snapshot() as sql:
                known = current_name(sql, name)
            if known is None:
                raise Refusal(
                    404, bodies.ProblemTold(problem="nobody is called that in this project")
                )
            return person_view(project, known, review.alike)

        return await review.access.read(read)

    @app.post("/api/rename", responses=_described(CHANGED))
    async def rename(body: bodies.NewName) -> bodies.Made:
        """Give a person another name, which is nobody else's."""
        return await _about_name(review, body, lambda project: project.rename)

    @app.post("/api/merge", responses=_described(CHANGED))
    async def merge(body: bodies.NewName) -> bodies.Made:
        """Make two people one, who has the second name."""
        return await _about_name(review, body, lambda project: project.merge)

    @app.post("/api/split", responses=_described(MISSING, CHANGED))
    async def split(body: bodies.SplitOff) -> bodies.Made:
        """Say that some faces of a person are another."""

        def write(project: Project) -> bodies.Made:
            with project.snapshot() as sql:
                _check_seen(sql, body.faces)
            faces = [one.face for one in body.faces]
            return bodies.Made(numbers=project.split(body.name, faces, body.new))

        return await review.access.write(write)

    @app.get("/api/unnamed")
    async def unnamed(
        offset: Offset = 0, most: Annotated[int, Query(ge=1, le=50)] = 10
    ) -> bodies.GroupList:
        """Return groups of faces that nobody named, the largest first."""
        groups = review.grouping.result
        if groups is None:
            review.grouping.start(review.path, review.small)
            if review.small:
                await review.access.read(lambda _: review.grouping.wait())
                groups = review.grouping.result
        if groups is None:
            return bodies.GroupList(ready=False, total=0, groups=[])

        def read(project: Project) -> bodies.GroupList:
            found = []
            with project.snapshot() as sql:
                for group in groups[offset:]:
                    left = still_unnamed(sql, group, GROUP_FACES)
                    if left is not None:
                        found.append(left)
                    if len(found) == most:
                        break
            return bodies.GroupList(ready=True, total=len(groups), groups=found)

        return await review.access.read(read)


async def _about_name(
    review: Review, body: bodies.NewName, way: Callable[[Project], Callable[[str, str], int]]
) -> bodies.Made:
    def write(project: Project) -> bodies.Made:
        with project.snapshot() as sql:
            _check_name_seen(sql, known_name(sql, body.name), body.seen)
        return bodies.Made(numbers=[way(project)(body.name, body.new)])

    return await review.access.write(write)


# History


def _add_history(app: FastAPI, review: Review) -> None:
    @app.get("/api/history")
    async def history(
        day: Annotated[str, Query(pattern=r"^(\d{4}-\d{2}-\d{2})?$")] = "",
        person: bodies.Words = "",
        before: Annotated[int, Query(ge=0, le=bodies.LARGEST)] = bodies.LARGEST,
    ) -> bodies.History:
        """Return what was decided, the last first."""

        def read(project: Project) -> bodies.History:
            with project.snapshot() as sql:
                return bodies.History(
                    decisions=decisions_page(sql, day, person, before),
                    days=[bodies.DayCount(day=one, decisions=count) for one, count in days(sql)],
                )

        return await review.access.read(read)


# Photos


def _add_photos(app: FastAPI, review: Review) -> None:
    @app.get("/api/photos")
    async def photos(
        find: bodies.Words = "",
        offset: Offset = 0,
        most: Annotated[int, Query(ge=1, le=100)] = 40,
    ) -> bodies.PhotoList:
        """Return photos in the order of their files."""

        def read(project: Project) -> bodies.PhotoList:
            where = "gone = 0 AND photo IS NOT NULL AND instr(lower(path), lower(?)) > 0"
            with project.snapshot() as sql:
                (total,) = sql.execute(
                    f"SELECT count(*) FROM files WHERE {where}", (find,)
                ).fetchone()
                rows = sql.execute(
                    "SELECT photo, path, (SELECT count(*) FROM faces"
                    f" WHERE faces.photo = files.photo) FROM files WHERE {where}"
                    " ORDER BY root, path LIMIT ? OFFSET ?",
                    (find, most, offset),
                )
                found = [
                    bodies.PhotoRowView(photo=photo, file=shown(os.fsdecode(path)), faces=count)
                    for photo, path, count in rows
                ]
            return bodies.PhotoList(total=total, photos=found)

        return await review.access.read(read)

    @app.get("/api/photos/{photo}", responses=_described(MISSING))
    async def one_photo(photo: FaceNumber) -> PhotoView:
        """Return a photo with its faces and what is written."""
        found = await review.access.read(lambda project: photo_view(project, photo, review.alike))
        if found is None:
            raise _missing(f"photo {photo}")
        return found

    @app.post("/api/photos/{photo}/faces", responses=_described(MISSING, CHANGED))
    async def draw(photo: FaceNumber, body: bodies.DrawnBox) -> bodies.DrawnFace:
        """Add a face that nobody found."""

        def look(project: Project) -> tuple[Any, str]:
            with project.snapshot() as sql:
                if not _has(sql, "photos", photo):
                    raise _missing(f"photo {photo}")
                model, settings = project_models(sql)
                picture = picture_of(sql, photo)
            if picture is None:
                text = "the file of this photo is not there, or was changed since"
                raise Refusal(409, bodies.ProblemTold(problem=text))
            width, height = picture.width, picture.height
            w, h = min(body.w, 1 - body.x), min(body.h, 1 - body.y)
            box = Box(body.x * width, body.y * height, w * width, h * height)
            if min(box.w, box.h) < 8:
                text = "the box is too small: a face has to have at least 8 pixels"
                raise Refusal(422, bodies.ProblemTold(problem=text))
            return review.embedder.embedded(picture, box, model, settings), model

        face, model = await review.access.read(look)

        def write(project: Project) -> bodies.DrawnFace:
            with project.transaction() as sql:
                number = draw_face(sql, photo, face, model, this_user())
            review.alike.add(number, face.embedding)
            view = photo_view(project, photo, review.alike)
            if view is None:
                raise _missing(f"photo {photo}")
            return bodies.DrawnFace(face=number, photo=view)

        return await review.access.write(write)

    jpeg: dict[int | str, dict[str, Any]] = {200: {"content": {"image/jpeg": {}}}}

    @app.get(
        "/pictures/photos/{photo}",
        responses={**jpeg, **_described(MISSING)},
        response_class=Response,
    )
    async def photo_picture(photo: FaceNumber, large: bool = True) -> Response:
        """Return a photo as JPEG, made smaller."""
        side = SIDES[int(large)]
        data = await review.access.read(lambda own: review.pictures.photo(own, photo, side))
        if data is None:
            raise _missing(f"photo {photo} that can be shown")
        return Response(data, media_type="image/jpeg", headers=KEEP)

    @app.get(
        "/pictures/faces/{face}",
        responses={**jpeg, **_described(MISSING)},
        response_class=Response,
    )
    async def face_picture(face: FaceNumber) -> Response:
        """Return a face as JPEG."""
        data = await review.access.read(lambda own: review.pictures.face(own, face))
        if data is None:
            raise _missing(f"face {face} that can be shown")
        return Response(data, media_type="image/jpeg", headers=KEEP)


# Solving


def _add_solving(app: FastAPI, review: Review) -> None:
    @app.post("/api/solve")
    async def solve_now() -> bodies.SolveState:
        """Solve again with the decisions so far, unless that is being done."""
        review.solving.start(review.path, review.small, review.work_again)
        return await _solve_state(review)

    @app.get("/api/solve")
    async def solved() -> bodies.SolveState:
        """Return how far the solve is, and what the last one changed."""
        return await _solve_state(review)


async def _solve_state(review: Review) -> bodies.SolveState:
    job = review.solving
    changes = job.result or []

    def read(project: Project) -> list[bodies.ChangeView]:
        with project.snapshot() as sql:
            return [
                bodies.ChangeView(
                    face=one.face,
                    photo=sql.execute(
                        "SELECT photo FROM faces WHERE id = ?", (one.face,)
                    ).fetchone()[0],
                    file=shown(one.file),
                    before=one.before,
                    after=one.after,
                    why=one.why,
                )
                for one in changes[:MOST_CHANGES]
            ]

    return bodies.SolveState(
        running=job.running,
        done=job.done,
        total=job.total,
        times=job.times,
        failure=shown(job.failure),
        changed=len(changes),
        changes=await review.access.read(read),
    )
