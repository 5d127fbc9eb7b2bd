"""The settings of the paper's methods, in their order: one change after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from benchmarks.paper.page.method_looks import base_name


@dataclass(frozen=True)
class SettingChain:
    """Names of the settings, and how each ends the names of the paper's methods.

    Parameters
    ----------
    endings : mapping of str to str
    faithful : str
        The setting that figures show first.

    Examples
    --------
    >>> chain = SettingChain({"letter": " (paper)", "centred": " (centred)", "ours": ""}, "centred")
    >>> chain.there(["MCar (paper)", "MCar"])
    ('letter', ' (paper)')
    """

    endings: Mapping[str, str]
    faithful: str

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Return the settings that claims are judged under."""
        endings = {one["name"]: one["ending"] for one in document["settings"]}
        return cls(endings, document["faithful"])

    def there(self, methods: Iterable[str]) -> tuple[str, str]:
        """Return the faithful setting, or the last one before it that these methods have.

        A change that does nothing to some data is not run on it, so the setting before it is
        the same there.
        """
        present = {method.removeprefix(base_name(method)) for method in methods}
        names = list(self.endings)
        for name in reversed(names[: names.index(self.faithful) + 1]):
            if self.endings[name] in present:
                return name, self.endings[name]
        return self.faithful, self.endings[self.faithful]

    def is_faithful(self, method: str, methods: Iterable[str]) -> bool:
        """Return whether a method is in the setting that is shown first."""
        return method == f"{base_name(method)}{self.there(methods)[1]}"
