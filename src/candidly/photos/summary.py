"""What a run tells while it works, and at its end."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Progress:
    """How far a run is: ``done`` of ``total`` photos to look at, and the one in hand."""

    done: int
    total: int
    file: str


@dataclass
class Summary:
    """What a run did.

    Of the ``found`` files some were ``unchanged``, some ``recognised`` (moved, copied, or with
    other metadata), the others ``new``; ``captions`` were read, ``faces`` found; files known
    before are ``gone``. ``failed`` has file and reason, ``problems`` what else went wrong.

    Examples
    --------
    >>> Summary(found=2, new=1, failed=[("a.jpg", "it is empty")]).counts["failed"]
    1
    """

    found: int = 0
    unchanged: int = 0
    recognised: int = 0
    new: int = 0
    captions: int = 0
    faces: int = 0
    gone: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """All of it as numbers."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: v if isinstance(v, int) else len(v) for name, v in values.items()}
