"""candidly ingest: photos in, faces found, names read, into a project file."""

from __future__ import annotations

from candidly.cli import photo_run
from candidly.cli.listing import ProjectOption
from candidly.photos import ingest as ingest_photos

EXAMPLES = """
[bold]Examples[/bold]

  candidly ingest ~/Pictures

  candidly ingest ~/Pictures --since 2024-01-01 --only 2024/wedding

  candidly ingest archive --project archive.candidly --aliases aliases.txt
"""


def ingest(
    photos: photo_run.PhotosArgument,
    project: ProjectOption = None,
    since: photo_run.SinceOption = None,
    only: photo_run.OnlyOption = None,
    spacy: photo_run.SpacyOption = None,
    aliases: photo_run.AliasesOption = None,
    allow: photo_run.AllowOption = None,
    never: photo_run.NeverOption = None,
    detector: photo_run.DetectorOption = None,
    embedder: photo_run.EmbedderOption = None,
) -> None:
    """Find the faces in a folder of photos, read the names in their captions, keep both.

    Photos are only read. What has not changed since the last time is skipped, so the same
    command again continues where it was stopped, reads corrected captions and recognises what
    was moved.

    Exit codes: 0 all is well; 1 the run could not be done; 2 wrong usage; 3 done, but some
    photos or captions could not be read (they are listed); 130 interrupted.
    """
    photo_run.check_only(photos, only)
    with photo_run.RunDisplay() as display:
        choices = photo_run.read_choices(spacy, aliases, allow, never, detector, embedder)
        done = ingest_photos(
            photos,
            project,
            since=since,
            only=only,
            choices=display.expect(choices),
            on_progress=display.progress,
            on_result=display.result,
        )
    display.end(project, done)
