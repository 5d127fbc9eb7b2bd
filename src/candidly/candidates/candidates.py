"""Candidate labels of all instances as one immutable object."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable
from html import escape
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from candidly.candidates import ambiguity, forms, misuse
from candidly.candidates.forms import Listing, Names

SHOWN = 5
"""Rows that notebooks show."""


class UnlistedClassWarning(UserWarning):
    """Warning about a class that no candidate set lists; its column stays at 0."""


class Candidates:
    """Candidate labels of N instances over c classes.

    Make one with :meth:`from_mask`, :meth:`from_sets`, :meth:`from_strings`,
    :meth:`from_labels` or :meth:`from_priors`. ``Candidates(y)`` accepts every form that can
    be read in one way only (a boolean or 0/1 matrix, a sparse matrix, a soft matrix, a list of
    sets, a 1-d array of labels) and refuses the rest with the constructor to use instead.

    It is immutable. It has ``len``, ``shape``, row indexing and conversion to a boolean
    array, and so can be passed to ``cross_val_score`` and ``GridSearchCV`` as ``y``.

    Parameters
    ----------
    y : Candidates, array, sparse matrix, DataFrame or list
        Candidates in any of the forms above.
    classes : sequence, optional
        Class of each column.
    null : class name, optional
        The class that means "none of these". It is a candidate of every instance: added to
        every set (except the rows that are ``decided``, see :meth:`from_sets`), and to a
        matrix whose column for it is empty; other matrices are left unchanged.
    groups : array of length N, optional
        Group of each instance, e.g. the photo of each face.

    Examples
    --------
    >>> from candidly import Candidates
    >>> photo = Candidates([{"ann", "bob"}, {"bob"}, None])
    >>> photo
    Candidates(3 instances, 2 classes, 1.67 candidates each)
    >>> photo[1].sets()
    [{'bob'}]
    >>> photo.mask
    array([[ True,  True],
           [False,  True],
           [ True,  True]])
    """

    _priors: sparse.csr_array  # its stored entries are the candidates, never 0
    _classes: NDArray[Any]
    _null: int | None
    _groups: NDArray[Any] | None
    _group_sizes: NDArray[np.intp] | None  # sizes of whole groups, even if rows were left out
    _is_part: bool = False  # rows were selected before groups were known

    def __init__(
        self,
        y: Any,
        *,
        classes: Names = None,
        null: Hashable | None = None,
        groups: ArrayLike | None = None,
    ) -> None:
        if isinstance(y, Candidates):
            if classes is not None or null is not None or groups is not None:
                raise ValueError("these are Candidates already; give classes, null, groups there")
            self.__dict__.update(y.__dict__)
        else:
            self._set(forms.read(y, classes, null), null, groups)

    @classmethod
    def from_mask(
        cls,
        mask: Any,
        *,
        classes: Names = None,
        null: Hashable | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Make candidates from an N x c matrix of booleans or 0/1, dense or sparse.

        Parameters
        ----------
        mask : array, sparse matrix or DataFrame of shape (N, c)
            True where a class is a candidate. A DataFrame's columns name the classes.
        classes : sequence, optional
            Names of the columns; without it a class is its column number.
        null, groups
            As in :class:`Candidates`.

        Examples
        --------
        >>> Candidates.from_mask([[1, 1, 0], [0, 0, 1]], classes=["ann", "bob", "eve"]).shape
        (2, 3)
        """
        return cls.__new__(cls)._set(forms.read_mask(mask, classes, null), null, groups)

    @classmethod
    def from_sets(
        cls,
        sets: Iterable[Iterable[Hashable] | None],
        *,
        classes: Names = None,
        null: Hashable | None = None,
        decided: Iterable[int] = (),
        groups: ArrayLike | None = None,
    ) -> Self:
        """Make candidates from one collection of class names per instance; None means any label.

        Parameters
        ----------
        sets : iterable of collections or None
            The candidates of each instance. NaN and pandas' NA mean the same as None.
        classes : sequence, optional
            All classes, in the order of the columns; by default those that occur, sorted.
        null, groups
            As in :class:`Candidates`.
        decided : iterable of int
            Rows to which the null class is not added.

        Examples
        --------
        >>> Candidates.from_sets([["bob", "ann"], None]).mask
        array([[ True,  True],
               [ True,  True]])
        """
        return cls.__new__(cls)._set(forms.read_sets(sets, classes, null, decided), null, groups)

    @classmethod
    def from_strings(
        cls,
        values: Iterable[str | None],
        sep: str = "|",
        *,
        classes: Names = None,
        null: Hashable | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Make candidates from one string of names per instance, e.g. a column of a table.

        Parameters
        ----------
        values : iterable of str or None
            The candidates of each instance; None, NaN and pandas' NA mean any label.
        sep : str
            Separates the names; spaces around them do not count.
        classes, null, groups
            As in :meth:`from_sets`.

        Examples
        --------
        >>> Candidates.from_strings(["ann|bob", "bob", None]).sets()[1]
        {'bob'}
        """
        return cls.__new__(cls)._set(forms.read_strings(values, sep, classes, null), null, groups)

    @classmethod
    def from_labels(
        cls,
        labels: ArrayLike,
        *,
        classes: Names = None,
        null: Hashable | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Make candidates from known labels, one candidate per instance.

        Parameters
        ----------
        labels : 1-d array
            The label of each instance.
        classes : sequence, optional
            All classes, in the order of the columns; by default those that occur, sorted.
        null, groups
            As in :class:`Candidates`.

        Examples
        --------
        >>> Candidates.from_labels(["bob", "ann"]).mask
        array([[False,  True],
               [ True, False]])
        """
        return cls.__new__(cls)._set(forms.read_labels(labels, classes), null, groups)

    @classmethod
    def from_priors(
        cls,
        priors: Any,
        *,
        classes: Names = None,
        null: Hashable | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Make candidates from soft labels: a class is a candidate where its prior is above 0.

        Parameters
        ----------
        priors : array, sparse matrix or DataFrame of shape (N, c)
            Not negative; rows are normalised to sum to 1.
        classes, null, groups
            As in :meth:`from_mask`.

        Examples
        --------
        >>> Candidates.from_priors([[3.0, 1.0, 0.0], [0.0, 0.0, 1.0]]).priors
        array([[0.75, 0.25, 0.  ],
               [0.  , 0.  , 1.  ]])
        """
        return cls.__new__(cls)._set(forms.read_priors(priors, classes, null), null, groups)

    def _set(self, listing: Listing, null: Hashable | None, groups: ArrayLike | None) -> Self:
        """Check the matrix that was read, normalise its rows, and store it."""
        self._priors = _normalised(listing.matrix)
        self._set_classes(listing.classes)
        self._set_null(null)
        self._set_groups(groups)
        names = self._classes.tolist()
        unlisted = [name for name, count in zip(names, self.counts, strict=True) if count == 0]
        if unlisted:
            shown = ", ".join(map(repr, unlisted[:5])) + (", ..." if len(unlisted) > 5 else "")
            warnings.warn(
                f"no candidate set lists {len(unlisted)} of the {len(names)} classes ({shown}); "
                "they are never chosen",
                UnlistedClassWarning,
                stacklevel=3,
            )
        return self

    def _set_classes(self, classes: NDArray[Any]) -> None:
        names = classes.tolist()
        if len(names) != self.shape[1]:
            raise ValueError(
                f"{len(names)} class names for {self.shape[1]} columns; give one per column"
            )
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"the class {twice!r} is named twice; class names are unique")
        self._classes = classes

    def _set_null(self, null: Hashable | None) -> None:
        names = self._classes.tolist()
        if null is not None and forms.plain(null) not in names:
            raise ValueError(
                f"the null class {null!r} is not one of the classes; add it to them, or give "
                "null the name that means 'none of these'"
            )
        self._null = None if null is None else names.index(forms.plain(null))

    def _set_groups(self, groups: ArrayLike | None) -> None:
        self._groups = self._group_sizes = None
        if groups is not None:
            self._groups = np.array(groups)
            if self._groups.shape != (len(self),):
                raise ValueError(
                    f"groups have one entry per instance: {len(self)}, "
                    f"got shape {self._groups.shape}"
                )
            given = list(groups)  # type: ignore[arg-type]  # an array of text would hold "nan"
            missing = [j for j, group in enumerate(given) if forms.is_missing(group)]
            if missing:
                raise ValueError(
                    f"row {missing[0]} has no group but {forms.plain(given[missing[0]])!r} "
                    f"({len(missing)} such rows); give an instance that is alone a group of its own"
                )
            codes = forms.number(self._groups)
            self._group_sizes = np.bincount(codes)[codes]

    def with_groups(self, groups: ArrayLike) -> Self:
        """Return the same candidates with these groups.

        Examples
        --------
        >>> Candidates([{"ann"}, {"bob"}]).with_groups(["photo 1", "photo 1"])
        Candidates(2 instances, 2 classes, 1.00 candidates each, 1 groups)
        """
        if self._groups is not None:
            raise ValueError("the candidates have groups already; give groups once")
        made = self[:]
        made._set_groups(groups)
        if self._is_part and made._group_sizes is not None:
            made._group_sizes = made._group_sizes + 1  # any group may have lost a row
        return made

    def with_classes(self, classes: Iterable[Hashable]) -> Self:
        """Return the same candidates with other names for their classes, one per column.

        Examples
        --------
        >>> Candidates([{0, 1}, {1}]).with_classes(["ann", "bob"])[1].sets()
        [{'bob'}]
        """
        made = self[:]
        made._set_classes(forms.as_names(list(classes)))
        return made

    def with_null(self, null: Hashable) -> Self:
        """Return the same candidates with one of their classes as the null class.

        It becomes a candidate of every instance, unless some set lists it already.

        Examples
        --------
        >>> Candidates([{"ann", "nobody"}, {"ann"}]).with_null("nobody")
        Candidates(2 instances, 2 classes, 1.50 candidates each, null 'nobody')
        """
        if self._null is not None:
            raise ValueError(f"null is {forms.plain(self.null)!r} already; give null once")
        made = self[:]
        made._set_null(null)
        made._priors = _normalised(forms.with_null(Listing(self._priors, self._classes), null))
        return made

    @property
    def classes(self) -> NDArray[Any]:
        """Class of each column: its name, or its number if no names were given."""
        return self._classes.copy()

    @property
    def groups(self) -> NDArray[Any] | None:
        """Group of each instance, or None."""
        return None if self._groups is None else self._groups.copy()

    @property
    def group_numbers(self) -> NDArray[np.intp] | None:
        """Group of each instance as a number from 0, or None."""
        return None if self._groups is None else forms.number(self._groups)

    @property
    def in_partial_group(self) -> NDArray[np.bool_]:
        """Whether indexing left out, or may have left out, rows of the group of each instance."""
        if self._groups is None or self._group_sizes is None:
            return np.zeros(len(self), dtype=bool)
        codes = forms.number(self._groups)
        return np.bincount(codes)[codes] < self._group_sizes

    @property
    def is_part(self) -> bool:
        """Whether indexing left rows out, as folds do."""
        return self._is_part

    @property
    def null(self) -> Any:
        """Name of the null class, or None."""
        return None if self._null is None else self._classes[self._null]

    @property
    def null_column(self) -> int | None:
        """Column of the null class, or None."""
        return self._null

    @property
    def mask(self) -> NDArray[np.bool_]:
        """The candidates as an N x c boolean array."""
        mask = np.zeros(self.shape, dtype=bool)
        mask[self._rows(), self._priors.indices] = True
        return mask

    @property
    def priors(self) -> NDArray[np.float64]:
        """Soft labels, N x c: uniform over the candidates unless priors were given."""
        return self._priors.toarray()

    @property
    def sparse_priors(self) -> sparse.csr_array:
        """Soft labels as a sparse matrix (N x c): its stored entries are the candidates.

        They are in the order of the columns within a row.
        """
        return self._priors.copy()

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of candidates of each instance."""
        return np.diff(self._priors.indptr).astype(np.intp)

    @property
    def counts(self) -> NDArray[np.intp]:
        """Number of candidate sets that list each class."""
        return np.bincount(self._priors.indices, minlength=self.shape[1])

    def sets(self) -> list[set[Any]]:
        """Return the candidates of each instance as a set of class names."""
        names, ends = self._classes.tolist(), self._priors.indptr
        return [
            {names[column] for column in self._priors.indices[start:stop]}
            for start, stop in pairwise(ends)
        ]

    def contain(self, labels: ArrayLike) -> NDArray[np.bool_]:
        """Return whether each label is a candidate of its instance.

        Examples
        --------
        >>> Candidates([{"ann", "bob"}, {"bob"}]).contain(["ann", "ann"])
        array([ True, False])
        """
        labels = np.asarray(labels)
        if labels.shape != (len(self),):
            raise ValueError(f"{len(self)} instances need as many labels, got shape {labels.shape}")
        column = {name: i for i, name in enumerate(self._classes.tolist())}
        chosen = np.array([column.get(name, -1) for name in labels.tolist()], dtype=np.intp)
        rows = self._rows()
        inside = np.zeros(len(self), dtype=bool)
        inside[rows[self._priors.indices == chosen[rows]]] = True
        return inside

    @property
    def imbalance_factor(self) -> float:
        """Largest over smallest number of sets that list a class: the paper's measure."""
        return ambiguity.imbalance_factor(self.counts)

    @property
    def max_cooccurrence(self) -> float:
        """Largest P(b in S | a in S) over pairs of classes."""
        return ambiguity.max_cooccurrence(self._priors)

    def degree_of_ambiguity(self, y: ArrayLike) -> float:
        """Return the largest P(b in S | true label a), b != a: Cour's epsilon, for truth ``y``.

        Examples
        --------
        >>> Candidates([{"ann", "bob"}, {"ann"}]).degree_of_ambiguity(["ann", "ann"])
        0.5
        """
        return ambiguity.degree_of_ambiguity(self, y)

    @property
    def inseparable(self) -> list[tuple[Any, ...]]:
        """Classes that always occur together, so that no method can distinguish them."""
        together = ambiguity.always_together(self._priors)
        return [tuple(self._classes[list(columns)].tolist()) for columns in together]

    @property
    def everywhere(self) -> list[Any]:
        """Classes listed in every candidate set: each is a trivial answer for all instances."""
        return self._classes[self.counts == len(self)].tolist()

    def describe(self) -> str:
        """Return a few lines on how ambiguous the candidates are and what cannot be resolved.

        Examples
        --------
        >>> print(Candidates([{"ann", "bob"}, {"ann", "bob"}, {"eve"}]).describe())
        3 instances, 3 classes, 1.67 candidates each, 2 ambiguous
        imbalance factor 2.00, largest co-occurrence 1.00
        always together, cannot be told apart: ann, bob
        """
        lines = [
            f"{len(self)} instances, {self.shape[1]} classes, {self.sizes.mean():.2f} candidates "
            f"each, {int((self.sizes > 1).sum())} ambiguous",
            f"imbalance factor {self.imbalance_factor:.2f}, "
            f"largest co-occurrence {self.max_cooccurrence:.2f}",
        ]
        for names in self.inseparable:
            lines.append(f"always together, cannot be told apart: {', '.join(map(str, names))}")
        if self.everywhere:
            lines.append(f"in every candidate set: {', '.join(map(str, self.everywhere))}")
        return "\n".join(lines)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of instances and number of classes."""
        rows, columns = self._priors.shape
        return int(rows), int(columns)

    @property
    def ndim(self) -> int:
        """Number of dimensions, always 2."""
        return 2

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Self:
        """Return the rows of a number, slice, mask or array, with their classes and groups."""
        if isinstance(key, tuple):  # scikit-learn indexes with (rows, ...)
            if len(key) != 2 or not (key[1] is Ellipsis or key[1] == slice(None)):
                raise IndexError("Candidates are indexed by row only; use .mask for entries")
            key = key[0]
        rows = np.atleast_1d(np.arange(len(self))[key])
        part = type(self).__new__(type(self))
        part.__dict__.update(self.__dict__)
        part._priors = self._priors[rows]
        part._is_part = self._is_part or len(np.unique(rows)) < len(self)
        if self._groups is not None and self._group_sizes is not None:
            part._groups, part._group_sizes = self._groups[rows], self._group_sizes[rows]
        return part

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("the mask of Candidates is always a new array; copy=False cannot be")
        misuse.refuse_as_labels()
        return self.mask.astype(bool if dtype is None else dtype)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Candidates):
            return NotImplemented
        return (
            self.shape == other.shape
            and self._null == other._null
            and np.array_equal(self._classes, other._classes)
            and (self._priors != other._priors).nnz == 0
            and (self._groups is None) == (other._groups is None)
            and (self._groups is None or np.array_equal(self._groups, np.asarray(other._groups)))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        mean = self.sizes.mean() if len(self) else 0.0
        parts = [
            f"{len(self)} instances",
            f"{self.shape[1]} classes",
            f"{mean:.2f} candidates each",
        ]
        if self._null is not None:
            parts.append(f"null {self._classes.tolist()[self._null]!r}")
        if self._groups is not None:
            parts.append(f"{len(set(self._groups.tolist()))} groups")
        return f"Candidates({', '.join(parts)})"

    def _repr_html_(self) -> str:
        """Return a small table for notebooks: the counts, and the candidates of the first rows."""
        ambiguous = f"<p>{escape(repr(self))}, {int((self.sizes > 1).sum())} ambiguous</p>"
        rows = "".join(
            f"<tr><th>{number}</th><td>{escape(_listed(names))}</td></tr>"
            for number, names in enumerate(self[:SHOWN].sets())
        )
        rest = f"<tr><th>...</th><td>{len(self) - SHOWN} more</td></tr>" * (len(self) > SHOWN)
        head = "<tr><th>row</th><th>candidates</th></tr>"
        return f"{ambiguous}<table>{head}{rows}{rest}</table>"

    def _rows(self) -> NDArray[np.intp]:
        """Return the row of every candidate, in the order they are stored."""
        return np.repeat(np.arange(len(self)), self.sizes)


def _listed(names: set[Any]) -> str:
    """Return names in order, at most so many that a line holds them."""
    some = sorted(map(str, names))
    return ", ".join(some[: 2 * SHOWN]) + ", ..." * (len(some) > 2 * SHOWN)


def _normalised(matrix: sparse.csr_array) -> sparse.csr_array:
    """Return the matrix with rows that sum to 1, and only the candidates stored."""
    matrix = matrix.copy()
    matrix.sum_duplicates()  # and sorts the columns of each row
    matrix.eliminate_zeros()
    if matrix.shape[1] == 0:
        raise ValueError("there are no classes; candidate sets need at least one")
    sizes = np.diff(matrix.indptr)
    empty = np.flatnonzero(sizes == 0)
    if len(empty):
        raise ValueError(
            f"row {empty[0]} has an empty candidate set ({len(empty)} such rows); list at least "
            "one candidate, or None in Candidates.from_sets for any label"
        )
    if matrix.nnz == 0:
        return matrix
    starts = matrix.indptr[:-1]
    data = matrix.data
    for total in (np.maximum.reduceat, np.add.reduceat):  # by the largest first: no overflow
        data = data / np.repeat(total(data, starts), sizes)
    lost = np.flatnonzero(data <= 0)
    if len(lost):
        raise ValueError(
            f"the priors of row {forms.row_of(matrix, lost[0])} cannot be normalised: their "
            "sizes differ by more than a float holds; rescale them"
        )
    matrix.data = data
    return matrix
