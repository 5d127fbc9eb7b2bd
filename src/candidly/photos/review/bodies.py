"""What requests hold and answers bring, beside the views: the parts of the API's description."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from candidly.photos.review.log_view import DecisionView, ReviewEffort
from candidly.photos.review.persons import PersonRow
from candidly.photos.review.photo_view import PhotoView
from candidly.photos.review.unnamed import FaceGroup

LARGEST = 2**63 - 1  # that SQLite has
Number = Annotated[int, Field(ge=0, le=LARGEST)]


def _name(text: str) -> str:
    text = " ".join(text.split())
    if not any(map(str.isalnum, text)) or not text.isprintable():
        raise ValueError("a name has to have at least one letter, and none that cannot be printed")
    return text


Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_name)]
"""A person's name, without needless spaces."""
Words = Annotated[str, Field(max_length=500)]
"""Something to look for; "" for everything."""


class Body(BaseModel):
    """A request: what it does not know it refuses."""

    model_config = ConfigDict(extra="forbid")


class SeenFace(Body):
    """A face, and the number of the last decision about it that the user has seen."""

    face: Number
    seen: Number


class FaceDecisions(Body):
    """The same decision about one face or several.

    ``even_so`` accepts a name that another face of the photo has already.
    """

    what: Literal["is", "not", "nobody", "ignore"]
    name: Name | None = None
    faces: Annotated[list[SeenFace], Field(min_length=1, max_length=1000)]
    even_so: bool = False


class Undo(Body):
    """Numbers of decisions to take back; without any those that were made last at once."""

    numbers: Annotated[list[Number], Field(max_length=1000)] = []


class AuditAnswer(SeenFace):
    """Whether the name of a face is right; "open" takes back that somebody could not tell.

    ``seen`` is of the question: the last decision in the project then. ``even_so`` accepts a name
    that another face of the photo has already.
    """

    answer: Literal["right", "wrong", "unsure", "open"]
    even_so: bool = False


class NewName(Body):
    """Another name for a person, or the name of a person who is the same."""

    name: Name
    new: Name
    seen: Number


class SplitOff(Body):
    """Faces of a person that are another."""

    name: Name
    new: Name
    faces: Annotated[list[SeenFace], Field(min_length=1, max_length=1000)]


class DrawnBox(Body):
    """A box in parts of the picture's size."""

    x: Annotated[float, Field(ge=0, lt=1)]
    y: Annotated[float, Field(ge=0, lt=1)]
    w: Annotated[float, Field(gt=0, le=1)]
    h: Annotated[float, Field(gt=0, le=1)]


class ProblemTold(BaseModel):
    """What is wrong; ``happened`` is what somebody decided meanwhile.

    ``taken`` are the places of faces of the photo that have the name already.
    """

    problem: str
    happened: list[DecisionView] = []
    taken: list[int] = []


class Made(BaseModel):
    """Numbers of decisions that were made, and the photo as it is now where it is a single one."""

    numbers: list[int]
    photo: PhotoView | None = None


class DrawnFace(BaseModel):
    """A face that was drawn, and its photo as it is now."""

    face: int
    photo: PhotoView


class AskedPhoto(BaseModel):
    """A photo to look at, with the faces to ask about from left to right."""

    photo: int
    faces: list[int]


class Questions(BaseModel):
    """Photos to ask about next; ``settled`` where those come first by which most is settled.

    Otherwise the least sure do: until the order is known, and in very large projects.
    """

    photos: list[AskedPhoto]
    settled: bool


class PhotoRowView(BaseModel):
    """A photo in a list."""

    photo: int
    file: str
    faces: int


class PhotoList(BaseModel):
    """Some photos in the order of their files, and how many there are."""

    total: int
    photos: list[PhotoRowView]


class PeopleList(BaseModel):
    """Some people, and how many there are."""

    total: int
    people: list[PersonRow]


class NameList(BaseModel):
    """Names of people."""

    names: list[str]


class GroupList(BaseModel):
    """Groups of faces that nobody named; ``ready`` is false while they are being made."""

    ready: bool
    total: int
    groups: list[FaceGroup]


class DayCount(BaseModel):
    """How much was decided on a day (UTC)."""

    day: str
    decisions: int


class History(BaseModel):
    """Decisions, the last first, and the days on which there are some."""

    decisions: list[DecisionView]
    days: list[DayCount]


class ChangeView(BaseModel):
    """A name that a solve changed; None for nobody."""

    face: int
    photo: int
    file: str
    before: str | None
    after: str | None
    why: str


class SolveState(BaseModel):
    """A solve: whether it runs, how far it is, how often one ended, and what the last changed."""

    running: bool
    done: int
    total: int
    times: int
    failure: str
    changed: int
    changes: list[ChangeView]


class ReviewStatus(BaseModel):
    """The project, how far it is, and the last decision in it."""

    project: str
    last: int
    effort: ReviewEffort
    solving: bool


class FolderList(BaseModel):
    """Folders of photos, from their photo roots."""

    folders: list[str]


class WhyFace(BaseModel):
    """A confirmed or sure face that a face is like, with the caption of its photo."""

    face: int
    name: str
    file: str
    cosine: float
    confidence: float
    confirmed: bool
    caption: str


class WhyNot(BaseModel):
    """Another candidate, and why it was not chosen; None for nobody."""

    name: str | None
    probability: float | None
    because: str


class Why(BaseModel):
    """Why a face has its name, or none."""

    face: int
    name: str | None
    source: str
    reasons: list[str]
    alike: list[WhyFace]
    others: list[WhyNot]
