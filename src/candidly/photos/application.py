"""The application as functions: ingest photos into a project, name faces, learn how they vary."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from candidly.extras import require
from candidly.photos.faces.population_file import (
    EmbedderPopulation,
    PopulationProblem,
    read_population,
    write_population,
)
from candidly.photos.ingesting import (
    Choices,
    IngestSummary,
    default_parts,
    ingest_folder,
    store_choices,
)
from candidly.photos.ingesting.photo_files import folder_inside
from candidly.photos.ingesting.scanning import count_workers
from candidly.photos.project import Project, ProjectProblem, default_project, open_project
from candidly.photos.project.known_names import current_lists
from candidly.photos.project.places import data_folder, remember
from candidly.photos.recognition import (
    LearntPopulation,
    RecognitionSummary,
    learn_from_folder,
    learn_from_project,
    recognise,
)
from candidly.photos.records import StageProgress
from candidly.photos.reporting import ReportFile
from candidly.photos.reporting import report as write_report
from candidly.photos.reporting.report_file import check_place
from candidly.photos.solving import NameChange, SolveSummary, solve
from candidly.photos.solving.statistics import keep_population

AMONG = (
    "{} lies among the photos: whoever has them has the faces and names in it, too; move it to "
    "another place, and give it with --project FILE"
)
OTHER_MODELS = (
    "faces were found or embedded by other models so far: all photos are looked at again; names "
    "and what was decided stay with their faces"
)
PathLike = str | os.PathLike[str]
StageResult = str | Choices | IngestSummary | SolveSummary | RecognitionSummary | ReportFile


@dataclass(frozen=True)
class Named:
    """Result of ``name``: what was ingested, solved, recognised and reported.

    Attributes
    ----------
    project : Path
        The project file.
    ingested : IngestSummary
        Photos found, faces found, captions read, and what failed.
    solved : SolveSummary
        Photos solved, and faces named by captions.
    recognised : RecognitionSummary or None
        Faces named in photos without captions, where that was asked for.
    report : ReportFile or None
        The page that was written, where one was asked for.
    """

    project: Path
    ingested: IngestSummary
    solved: SolveSummary
    recognised: RecognitionSummary | None = None
    report: ReportFile | None = None

    @property
    def changes(self) -> list[NameChange]:
        """Names that changed since the last run, with the reason."""
        return self.solved.changes + (self.recognised.changes if self.recognised else [])


def _ignore(news: object) -> None:
    """Ignore progress and results."""


def ingest(
    folder: PathLike,
    project: Project | PathLike | None = None,
    *,
    since: datetime | None = None,
    only: PathLike | None = None,
    choices: Choices | None = None,
    n_jobs: int | None = None,
    on_progress: Callable[[StageProgress], None] = _ignore,
    on_result: Callable[[StageResult], None] = _ignore,
) -> IngestSummary:
    """Find the faces in a folder of photos, read the names in their captions, and store both.

    Photos are only read. What has not changed since the last time is skipped. Needs the extra
    ``photos``.

    Parameters
    ----------
    folder : path
        The folder of photos.
    project : Project or path, optional
        A project opened for writing, or its file, which is created if it does not exist; None for
        one in the user's data folder that is for this folder of photos.
    since : datetime, optional
        Only photos changed then or later.
    only : path, optional
        Only this folder inside ``folder``.
    choices : Choices, optional
        How names are read, lists of names, and other models.
    n_jobs : int, optional
        Threads that scan pictures; one per processor by default, at most four.
    on_progress : callable, optional
        Called with a ``StageProgress`` while photos are scanned.
    on_result : callable, optional
        Called with the choices in force (lists that are not given stay as they were), with the
        summary, and with a text where there is something to warn of.

    Returns
    -------
    IngestSummary

    Examples
    --------
    >>> import tempfile
    >>> from candidly import photos
    >>> with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as elsewhere:
    ...     photos.ingest(folder, f"{elsewhere}/holiday.candidly").found
    0
    """
    choices = choices or Choices()
    with _writing(project, Path(folder), only, choices) as opened:
        if opened.path.parent != data_folder().resolve() and lies_among(opened.path, Path(folder)):
            on_result(AMONG.format(opened.path))
        choices = store_choices(opened, choices)
        on_result(choices)
        parts = default_parts(choices)
        others = _others_to_look_at(opened, Path(folder), parts.model())
        if others is not None:
            on_result(OTHER_MODELS)
        done = IngestSummary()
        for place in (Path(folder), *(others or ())):
            first = place == Path(folder)
            on_progress(StageProgress("ingest"))
            done = done + ingest_folder(
                opened,
                place,
                parts,
                since=since,
                only=Path(only) if only is not None and first else None,
                n_jobs=n_jobs,
                settings=choices.settings(),
                on_progress=on_progress,
            )
        on_result(done)
    return done


def name(
    folder: PathLike,
    project: Project | PathLike | None = None,
    *,
    full: bool = False,
    cues: bool = True,
    uncaptioned: bool = False,
    report: PathLike | None = None,
    since: datetime | None = None,
    only: PathLike | None = None,
    choices: Choices | None = None,
    n_jobs: int | None = None,
    on_progress: Callable[[StageProgress], None] = _ignore,
    on_result: Callable[[StageResult], None] = _ignore,
) -> Named:
    """Give every face in a folder of captioned photos a name, or nobody.

    Photos are ingested first. A name comes from the caption, at most once per photo, by
    similarity to the same person elsewhere, by what the caption says about places, and by
    elimination. Decisions of a user are never changed. Needs the extra ``photos``.

    Parameters
    ----------
    folder : path
        The folder of photos; they are only read.
    project : Project or path, optional
        A project opened for writing, or its file, which is created if it does not exist; None for
        one in the user's data folder that is for this folder of photos.
    full : bool
        Solve all photos together again, not only new ones; so it is where ``choices`` have a
        population.
    cues : bool
        Use what captions say about places: "(L)", "from left".
    uncaptioned : bool
        Recognise people in photos without captions too; ``candidly.photos.train`` learns them.
    report : path, optional
        File of the report; None writes none.
    since : datetime, optional
        Only photos changed then or later.
    only : path, optional
        Only this folder inside ``folder``.
    choices : Choices, optional
        How names are read, lists of names, and other models.
    n_jobs : int, optional
        Threads that scan pictures; one per processor by default, at most four.
    on_progress : callable, optional
        Called with a ``StageProgress`` at the start of each stage and while it runs.
    on_result : callable, optional
        Called with the choices in force, and with what each stage returns, as soon as it does.

    Returns
    -------
    Named

    Raises
    ------
    ProjectProblem
        Where the project or the report cannot be written, and where ``uncaptioned`` is set before
        people were learnt. What was done until then is kept in the project.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from PIL import Image
    >>> from candidly import photos
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = Path(place, "photos")
    ...     folder.mkdir()
    ...     Image.new("RGB", (160, 120)).save(folder / "night.png")
    ...     _ = (folder / "night.txt").write_text("Ann Lee in the dark.")
    ...     named = photos.name(folder, f"{place}/holiday.candidly", report=f"{place}/report.html")
    >>> named.ingested.new, named.ingested.captions, named.ingested.faces
    (1, 1, 0)
    >>> named.solved.named, named.report.path.name, named.changes
    (0, 'report.html', [])
    """
    folder, choices = Path(folder), choices or Choices()
    if report is not None and Path(report).resolve().is_relative_to(folder.resolve()):
        raise ProjectProblem(f"{report} lies among the photos in {folder}; choose another place")

    def step(stage: str) -> Callable[[int, int], None]:
        on_progress(StageProgress(stage))
        return lambda done, total: on_progress(StageProgress(stage, done, total))

    with _writing(project, folder, only, choices) as opened:
        if report is not None:
            check_place(opened, Path(report))
        ingested = ingest(
            folder,
            opened,
            since=since,
            only=only,
            choices=choices,
            n_jobs=n_jobs,
            on_progress=on_progress,
            on_result=on_result,
        )
        full = full or choices.population is not None
        solved = solve(opened, full=full, cues=cues, on_step=step("solve"))
        on_result(solved)
        recognised = page = None
        if uncaptioned:
            step("recognise")
            with opened.snapshot() as sql:
                lists = current_lists(sql)
            recognised = recognise(opened, lists)
            on_result(recognised)
        if report is not None:
            page = write_report(opened, report, on_photo=step("report"))
            on_result(page)
        return Named(opened.path, ingested, solved, recognised, page)


def learn_population(
    folder: PathLike | None = None,
    project: Project | PathLike | None = None,
    *,
    out: PathLike | None = None,
    choices: Choices | None = None,
    n_jobs: int | None = None,
    on_progress: Callable[[StageProgress], None] = _ignore,
) -> LearntPopulation:
    """Learn how faces vary within one person and between people, as an embedder has them.

    It is for ``Choices(population=...)``, where faces are found or embedded by other models than
    Candidly's own: for those it comes with Candidly.

    Parameters
    ----------
    folder : path, optional
        A folder with one folder per person, which has photos of that person; the largest face of
        each photo counts. They need not be people of the collection. Needs the extra ``photos``.
    project : Project or path, optional
        Without a folder, the project whose faces are used that somebody, or metadata, named; None
        for the one in the user's data folder.
    out : path, optional
        The file to write.
    choices : Choices, optional
        Whose ``detector`` and ``embedder`` look at the folder.
    n_jobs : int, optional
        Threads that scan pictures; one per processor by default, at most four.
    on_progress : callable, optional
        Called with a ``StageProgress`` while photos are scanned.

    Returns
    -------
    LearntPopulation

    Raises
    ------
    PopulationProblem
        If fewer than 20 people have two faces or more, or faces of one person vary as much as
        those of anybody.

    Examples
    --------
    >>> import tempfile
    >>> from candidly import photos
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     photos.learn_population(folder)
    Traceback (most recent call last):
    ...
    candidly.photos.faces.population_file.PopulationProblem: ...: of 0 people 0 have two ...
    """
    if folder is None:
        with open_project(project) as opened:
            learnt = learn_from_project(opened)
    else:
        _check_folder(Path(folder))
        on_progress(StageProgress("ingest"))
        parts, workers = default_parts(choices or Choices()), count_workers(n_jobs)
        learnt = learn_from_folder(Path(folder).resolve(), parts, workers, on_progress)
    if out is not None:
        write_population(Path(out), learnt.made)
    return learnt


def _check_folder(folder: Path) -> None:
    """Refuse to look at photos without the extra, or in a folder that is not there."""
    for module in ("cv2", "PIL"):
        require(module, "photos")
    if not folder.is_dir():
        raise ProjectProblem(f"there is no folder {folder}; give the folder of your photos")


def _given_population(choices: Choices) -> EmbedderPopulation | None:
    """Return the population that is given, if any; refuse one for other models."""
    if choices.population is None:
        return None
    given, model = read_population(choices.population), default_parts(choices).model()
    if not given.fits(model):
        raise PopulationProblem(
            f"{choices.population} is about faces of {given.model}, and those here are of {model}; "
            "candidly population makes one for other models"
        )
    return given


def refuse_new_among(project: Path, photos: Path) -> None:
    """Raise ``ProjectProblem`` where a new project would lie among the photos."""
    if lies_among(project, photos) and not project.exists():
        raise ProjectProblem(
            f"{project} would lie among the photos in {photos}, where nothing is written; choose "
            "another place with --project FILE"
        )


def lies_among(project: Path, photos: Path) -> bool:
    """Return whether a file lies in a folder of photos, and in no hidden folder of it."""
    project, photos = project.resolve(), photos.resolve()
    if not project.is_relative_to(photos):
        return False
    return not any(part.startswith(".") for part in project.relative_to(photos).parts[:-1])


def _others_to_look_at(project: Project, folder: Path, model: str) -> list[Path] | None:
    """Return the project's other folders where faces are of other models; None where none are.

    Faces of two models are never compared, so that all photos are looked at again.
    """
    query = "SELECT DISTINCT root FROM files JOIN photos ON photos.id = photo WHERE model != ?"
    with project.snapshot() as sql:
        stale = {root for (root,) in sql.execute(query, (model,))}
    if not stale:
        return None
    roots = [root.path for root in project.roots() if root.id in stale and root.path.is_dir()]
    here = folder.resolve()
    return [path for path in roots if not (here.is_relative_to(path) or path.is_relative_to(here))]


@contextmanager
def _writing(
    project: Project | PathLike | None, folder: Path, only: PathLike | None, choices: Choices
) -> Iterator[Project]:
    """Open a project for writing; what cannot be done is refused before a project is made."""
    _check_folder(folder)
    choices.lists()
    population = _given_population(choices)
    if only is not None:
        folder_inside(folder, Path(only))
    if project is None:
        project = default_project(folder)
    elif not isinstance(project, Project):
        refuse_new_among(Path(project), folder)
    with open_project(project, write=True, create=True) as opened:
        remember(opened.path)
        if population is not None:
            with opened.transaction() as sql:
                keep_population(sql, population)
        yield opened
