"""Aliases, an allow list and a never-name list, from plain text files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import NamedTuple

from candidly.photos.names.lexicon import fold


class ListError(ValueError):
    """A list file, or a line of it, that cannot be read; the message says which and why."""


def key(name: str) -> str:
    """Return a name without case, diacritics, dots and commas, as names are compared.

    Examples
    --------
    >>> key("J. K.  Rowling") == key("j k rowling"), key("Jean Chrétien")
    (True, 'jean chretien')
    """
    return " ".join(re.sub(r"[.,\"“”]", " ", fold(name)).split())


@dataclass(frozen=True)
class Lists:
    """The user's aliases, allow list and never-name list.

    Names are compared without case and diacritics.

    Parameters
    ----------
    aliases : dict of str to str
        From a name's :func:`key` to the name it stands for, which has its own key here, too.
    allow : frozenset of str, optional
        Keys of the only people to name; None for everybody.
    never : frozenset of str
        Keys of people never to name.
    folders : tuple of str
        Folders whose photos get no names, wherever they are: which root a photo belongs to can
        change, and who is never to be named must not depend on it.
    """

    aliases: dict[str, str] = field(default_factory=dict)
    allow: frozenset[str] | None = None
    never: frozenset[str] = frozenset()
    folders: tuple[str, ...] = ()

    def canonical(self, name: str) -> str:
        """Return the name that a name stands for."""
        return self.aliases.get(key(name), name)

    def permits(self, name: str) -> bool:
        """Return whether a person may be named."""
        own = {key(name), key(self.canonical(name))}
        if own & self.never:
            return False
        return self.allow is None or bool(own & self.allow)

    def following(self, renamed: Iterable[tuple[str, str]]) -> Lists:
        """Return the lists with names that became others, and these others again.

        Somebody on a list stays on it under a new name. Where names would go in a circle, the
        last one given holds.

        Examples
        --------
        >>> lists = Lists().following([("Ann Lee", "Ann Ray"), ("Ann", "Ann Lee")])
        >>> lists.canonical("ann"), lists.canonical("Ann Ray")
        ('Ann Ray', 'Ann Ray')
        """
        spelled = {key(name): name for name in self.aliases.values()}
        becomes = {own: key(name) for own, name in self.aliases.items() if own != key(name)}
        for old, new in renamed:
            if _end(becomes, key(new)) == key(old):
                becomes.pop(key(new), None)
            if key(old) != key(new):
                becomes[key(old)] = key(new)
            spelled[key(new)] = new
        names = {own: spelled[_end(becomes, own)] for own in {*becomes, *spelled}}
        return replace(
            self,
            aliases=names,
            allow=None if self.allow is None else _keys(self.allow, names),
            never=_keys(self.never, names),
        )

    def permits_folder(self, path: str | PurePath) -> bool:
        """Return whether the people of a photo may be named, by its path under the root.

        Examples
        --------
        >>> lists = Lists(folders=("school",))
        >>> lists.permits_folder("2019/school/a.jpg"), lists.permits_folder("schools/a.jpg")
        (False, True)
        """
        place = _place(PurePath(path).parent)
        return not any(_place(PurePath(folder)) in place for folder in self.folders)


class Text(NamedTuple):
    """The text of a list file, and where it is from."""

    text: str
    source: str

    @classmethod
    def of(cls, path: Path) -> Text:
        """Return the text of a file."""
        try:
            return cls(path.read_text(encoding="utf-8-sig"), str(path))
        except UnicodeDecodeError as error:
            raise ListError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from error


def read_lists(
    *, aliases: Text | None = None, allow: Text | None = None, never: Text | None = None
) -> Lists:
    """Return the user's lists, read from one entry per line; ``#`` starts a comment.

    Parameters
    ----------
    aliases : Text, optional
        Lines ``Tony Blair = Anthony Blair, A. Blair``: the others stand for the first.
    allow : Text, optional
        Names of the only people to name; an empty list is none.
    never : Text, optional
        Names of people never to name, and folders, which end with ``/``.

    Somebody whose other name is on a list is on it, too.
    """
    found: dict[str, str] = {}
    for at, line in _lines(aliases):
        name, equals, others = line.partition("=")
        if not equals or not name.strip() or not others.strip():
            raise ListError(f"{_source(aliases)}, line {at}: {line!r} is not 'Name = other, other'")
        for other in filter(None, map(str.strip, others.split(","))):
            if key(other) == key(name):
                continue
            if found.setdefault(key(other), name.strip()) != name.strip():
                raise ListError(
                    f"{_source(aliases)}, line {at}: {other!r} stands for "
                    f"{found[key(other)]!r} already; keep one of the two lines"
                )
    known = {other: _last(found, other, _source(aliases)) for other in found}
    known |= {key(name): name for name in known.values()}
    people, folders = [], []
    for at, line in _lines(never):
        if not line.endswith(("/", "\\")):
            people.append(line)
        elif line.startswith(("/", "\\", "~")) or line[1:2] == ":":
            raise ListError(
                f"{_source(never)}, line {at}: {line!r} is a whole path; write it from the folder "
                "of the photos, as 2019/school/"
            )
        else:
            folders.append(line.replace("\\", "/").strip("/"))
    return Lists(
        aliases=known,
        allow=_keys((line for _, line in _lines(allow)), known) or None,
        never=_keys(people, known),
        folders=tuple(folders),
    )


def _last(found: dict[str, str], other: str, source: str) -> str:
    """Return the name at the end of a chain of aliases."""
    seen = {other}
    while (at := key(found[other])) in found:
        if at in seen:
            raise ListError(f"{source}: {found[other]!r} stands for itself in a circle; cut it")
        seen.add(at)
        other = at
    return found[other]


def _end(becomes: Mapping[str, str], own: str) -> str:
    """Return the key at the end of a chain that is no circle."""
    while own in becomes:
        own = becomes[own]
    return own


def _keys(names: Iterable[str], aliases: dict[str, str]) -> frozenset[str]:
    """Return the keys of names, and of those they stand for: a list has people, not spellings."""
    own = {key(name) for name in names}
    return frozenset(own | {key(aliases[name]) for name in own if name in aliases})


def _place(folder: PurePath) -> str:
    """Return a folder's path as text that is contained in the text of every folder in it."""
    return "/" + "".join(fold(part) + "/" for part in folder.parts)


def _source(given: Text | None) -> str:
    return "" if given is None else given.source


def _lines(given: Text | None) -> Iterator[tuple[int, str]]:
    for at, line in enumerate(given.text.splitlines() if given else (), start=1):
        if stripped := line.partition("#")[0].strip():
            yield at, stripped
