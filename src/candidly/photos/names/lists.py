"""Aliases, an allow list and a never-name list, from plain text files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from candidly.photos.names.lexicon import fold


class ListError(ValueError):
    """A line of a list file that says nothing we can read."""


def key(name: str) -> str:
    """Return what names are compared by: no case, diacritics, dots and commas, one blank.

    Examples
    --------
    >>> key("J. K.  Rowling") == key("j k rowling"), key("Jean Chrétien")
    (True, 'jean chretien')
    """
    return " ".join(re.sub(r"[.,\"“”]", " ", fold(name)).split())


@dataclass(frozen=True)
class Lists:
    """What the user says of names; each compared without case and diacritics.

    Parameters
    ----------
    aliases : dict of str to str
        From a name's :func:`key` to the name it stands for.
    allow : frozenset of str, optional
        Keys of the only people to name; None for everybody.
    never : frozenset of str
        Keys of people never to name.
    folders : tuple of str
        Folders whose photos get no names, relative to the photos' root.
    """

    aliases: dict[str, str] = field(default_factory=dict)
    allow: frozenset[str] | None = None
    never: frozenset[str] = frozenset()
    folders: tuple[str, ...] = ()

    def canonical(self, name: str) -> str:
        """Return the name that a name stands for."""
        return self.aliases.get(key(name), name)

    def permits(self, name: str) -> bool:
        """Whether somebody may be named."""
        own = {key(name), key(self.canonical(name))}
        if own & self.never:
            return False
        return self.allow is None or bool(own & self.allow)

    def permits_folder(self, path: str | PurePath) -> bool:
        """Whether the people of a photo may be named, by its path under the root.

        Examples
        --------
        >>> lists = Lists(folders=("school",))
        >>> lists.permits_folder("school/2019/a.jpg"), lists.permits_folder("schools/a.jpg")
        (False, True)
        """
        parts = tuple(fold(part) for part in PurePath(path).parts)
        for folder in self.folders:
            own = tuple(fold(part) for part in PurePath(folder).parts)
            if parts[: len(own)] == own:
                return False
        return True


def read_lists(
    *,
    aliases: str | Path | None = None,
    allow: str | Path | None = None,
    never: str | Path | None = None,
) -> Lists:
    """Read the user's lists; each is a text file, one entry a line, ``#`` starts a comment.

    Parameters
    ----------
    aliases : path, optional
        Lines ``Tony Blair = Anthony Blair, A. Blair``: the others stand for the first.
    allow : path, optional
        Names of the only people to name.
    never : path, optional
        Names of people never to name, and folders, which end with ``/``.
    """
    found: dict[str, str] = {}
    for at, line in _lines(aliases):
        name, equals, others = line.partition("=")
        if not equals or not name.strip() or not others.strip():
            raise ListError(f"{aliases}, line {at}: {line!r} is not 'Name = other, other'")
        for other in filter(None, map(str.strip, others.split(","))):
            if found.setdefault(key(other), name.strip()) != name.strip():
                raise ListError(
                    f"{aliases}, line {at}: {other!r} stands for {found[key(other)]!r} already; "
                    "keep one of the two lines"
                )
    refused = [line for _, line in _lines(never)]
    return Lists(
        aliases=found,
        allow=None if allow is None else frozenset(key(line) for _, line in _lines(allow)),
        never=frozenset(key(line) for line in refused if not line.endswith("/")),
        folders=tuple(line.strip("/") for line in refused if line.endswith("/")),
    )


def _lines(path: str | Path | None) -> Iterator[tuple[int, str]]:
    if path is None:
        return
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ListError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from error
    for at, line in enumerate(text.splitlines(), start=1):
        if stripped := line.partition("#")[0].strip():
            yield at, stripped
