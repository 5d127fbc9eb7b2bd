"""Exports taken back: files become what they were before, unless somebody changed them since."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from candidly.photos.exporting.exiftool import ExifTool, ExifToolProblem, has_exiftool
from candidly.photos.exporting.export_records import (
    WrittenFile,
    end_undo,
    files_of,
    forget_file,
    last_export,
)
from candidly.photos.exporting.whole_files import checksum, content, remove_whole, write_whole
from candidly.photos.project import Project, ProjectProblem, open_project

BATCH = 32  # files that are taken back before that is recorded


@dataclass
class UndoSummary:
    """Result of taking an export back: files removed and restored, and those left, with why."""

    number: int
    removed: list[Path] = field(default_factory=list)
    restored: list[Path] = field(default_factory=list)
    left: list[tuple[Path, str]] = field(default_factory=list)


def undo_export(project: Project | str | os.PathLike[str] | None = None) -> UndoSummary:
    """Take the last export back: files are removed, or become what they were before.

    A file that was changed after the export is left as it is. Names that no other file has are
    protected no more. Undone again, the export before is taken back.

    Parameters
    ----------
    project : Project or path, optional
        A project opened for writing, or its file; None for the one in the user's data folder.

    Returns
    -------
    UndoSummary

    Raises
    ------
    ProjectProblem
        Where there is no export to take back, or a file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Project.open(f"{folder}/a.candidly", write=True) as project:
    ...         undo_export(project)
    Traceback (most recent call last):
    candidly.photos.project.connection.ProjectProblem: there is no export to take back in ...
    """
    with open_project(project, write=True) as opened, ExifTool() as tool:
        with opened.snapshot() as sql:
            last = last_export(sql)
            files = [] if last is None else files_of(sql, last[0])
        if last is None:
            raise ProjectProblem(f"there is no export to take back in {opened.path}")
        done = UndoSummary(last[0])
        for at in range(0, len(files), BATCH):
            batch = files[at : at + BATCH]
            as_before = [file for file in batch if _is_as_before(file, tool, done)]
            with opened.transaction() as sql:
                for file in as_before:
                    forget_file(sql, file)
        if last[1] is not None:
            _remove_empty(done.removed, last[1])
        with opened.transaction() as sql:
            end_undo(sql, last[0])
    return done


def _is_as_before(file: WrittenFile, tool: ExifTool, done: UndoSummary) -> bool:
    """Take a file back, and return whether it is as it was before the export."""
    try:
        left = _take_back(file, tool, done)
    except OSError as error:
        raise ProjectProblem(
            f"{file.path} cannot be written ({error.strerror}); what was taken back is whole, and "
            "the same command again continues"
        ) from error
    if left is not None:
        done.left.append((file.path, left))
    return left is None


def _take_back(file: WrittenFile, tool: ExifTool, done: UndoSummary) -> str | None:
    """Restore or remove a file; return why it was left, None where it is as before."""
    there = content(file.path)
    now = None if there is None else checksum(there)
    if now == file.checksum_before:  # the export was interrupted, or it wrote the same
        return None
    if now is None:
        return None if not file.existed else "it was removed since"
    if now != file.checksum:
        return "it was changed since"
    if not file.existed:
        remove_whole(file.path)
        done.removed.append(file.path)
        return None
    if file.before is None:
        return "what was there before is not known any more"
    data = file.before
    if file.embedded:
        if not has_exiftool():
            return "ExifTool is needed to restore the copy of a photo"
        try:
            data = tool.embed(file.path, file.before)
        except ExifToolProblem as problem:
            return f"it could not be restored: {problem}"
        if checksum(data) != file.checksum_before:
            return "it would not be as before"
    write_whole(file.path, data)
    done.restored.append(file.path)
    return None


def _remove_empty(removed: Iterable[Path], folder: Path) -> None:
    """Remove folders that are empty now, up to the folder of the export."""
    for parent in sorted({p for path in removed for p in path.parents}, reverse=True):
        if parent.is_relative_to(folder):
            with suppress(OSError):
                parent.rmdir()
