"""Every experiment of the paper's section on results, declared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

from benchmarks.paper.declaration import Cell, Experiment, MethodEntry
from benchmarks.paper.made_up_candidates import PAIRS, PERMUTATION
from benchmarks.paper.method_entries import (
    BOUND,
    CENTRED,
    DEARER,
    EVERY_SETTING,
    FACES,
    INDUCTIVE,
    LETTER,
    LOST,
    MCAR,
    MCAR_CENTRED,
    MCAR_DEARER,
    MCAR_DEFAULT,
    PARAMS,
    PRIOR,
    SLOW,
    YAHOO,
    variants,
)

FRACTION, EPSILON, EXTRA = "ambiguous fraction", "co-occurrence ε", "extra labels"
LAMBDA, GAMMA, ROUNDS, ELIMINATED = "λ/λ0", "γ/λ0", "rounds", "f_e"
COLLECTION, PICTURES, PROJECTION = "collection", "pictures", "projection"

_fiw = partial(Cell, data="fiw10b")
_pie = partial(Cell, data="pie", options={"people": 18, "each": 21})
CLASSES = 10  # of FIW(10b)
_FIW_DIFFERS = (
    "FIW-like: the ten most frequent people of LFW, first 50 pictures each, cut from the "
    "deep-funneled images; Cour's own crops are not to be had, and these are better aligned. "
)
_PIE_DIFFERS = (
    "PIE at 32 x 32 pixels (the paper: 40 x 48), the first 18 people, the first 21 frontal "
    "pictures of each; which 18 and 21 the paper took is not said. "
)
_PRIOR_DIFFERS = "The paper takes figures of others from their papers; here all are run. "


def _fractions(
    cell: Callable[..., Cell],
    values: tuple[float, ...],
    quick: tuple[float, ...],
    known: tuple[float, ...] = (),
) -> list[Cell]:
    """Return cells with 2 extra labels; where the answer is known one repeat is enough."""
    return [
        cell(
            {FRACTION: value},
            ambiguity={"ambiguous_fraction": value, "n_extra": 2},
            most=1 if value in known else None,
            quick=value in quick,
        )
        for value in values
    ]


def _extras(
    cell: Callable[..., Cell], quick: tuple[int, ...], known: tuple[int, ...]
) -> list[Cell]:
    """Return cells with 0 to 9 extra labels; where the answer is known one repeat is enough."""
    return [
        cell(
            {EXTRA: value},
            ambiguity={"n_extra": value},
            most=1 if value in known else None,
            quick=value in quick,
        )
        for value in range(10)
    ]


FIW_FRACTION = Experiment(
    "fiw-fraction",
    "FIW-like: part of the faces is ambiguous, 2 extra labels, error on the other half",
    "Section 7.2.1, Figure 4(a)",
    "halves",
    tuple(_fractions(_fiw, (0, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95), (0.3, 0.9), known=(0,))),
    INDUCTIVE,
    _FIW_DIFFERS + _PRIOR_DIFFERS,
)
FIW_COOCCURRENCE = Experiment(
    "fiw-cooccurrence",
    "FIW-like: 1 extra label that is a partner's with probability ε, error on the other half",
    "Section 7.2.1, Figure 4(b)",
    "halves",
    tuple(
        _fiw(
            {EPSILON: round(value, 3)},
            ambiguity={"n_extra": 1, "cooccurrence": value},
            quick=value in (1 / (CLASSES - 1), 0.9),
        )
        for value in (1 / (CLASSES - 1), 0.3, 0.5, 0.7, 0.8, 0.9, 1.0)
    ),
    INDUCTIVE,
    _FIW_DIFFERS + _PRIOR_DIFFERS + "How partners are drawn is not said; here each class draws "
    "one at random, so that two classes can share one, which is where imbalance comes from.",
)
FIW_EXTRA = Experiment(
    "fiw-extra",
    "FIW-like: every face has 0 to 9 extra labels, labelling error",
    "Section 7.2.1, Figure 4(c)",
    "transductive",
    tuple(_extras(_fiw, (3, 6), (0, 9))),
    SLOW,
    _FIW_DIFFERS + _PRIOR_DIFFERS + "0 extra labels leave nothing to resolve, 9 are all classes.",
)
PIE_FRACTION = Experiment(
    "pie-fraction",
    "PIE 18 x 21: part of the faces is ambiguous, 2 extra labels, labelling error",
    "Section 7.2.2, Figure 5(a)",
    "transductive",
    tuple(_fractions(_pie, (0, 0.25, 0.5, 0.75, 0.95), (0.5, 0.95), known=(0,))),
    FACES,
    _PIE_DIFFERS + _PRIOR_DIFFERS + "Fraction 0 leaves nothing to resolve.",
)
PIE_EXTRA = Experiment(
    "pie-extra",
    "PIE 18 x 21: every face has 0 to 9 extra labels, labelling error",
    "Section 7.2.2, Figure 5(b)",
    "transductive",
    tuple(_extras(_pie, (3, 7), (0,))),
    FACES,
    _PIE_DIFFERS + _PRIOR_DIFFERS,
)
_LOST_DIFFERS = (
    "The faces of Lost as 108 principal components, as others share them; the paper has pixels, "
    "60 x 90, which are not to be had. l1 noise is not sparse in such features, so λ0 is too small "
    "here; our defaults take 3 λ0. They are of grey values up to 255, and divided by that: the "
    "paper's are up to 1. "
)
_UNIT = {"unit": 255.0}
LOST_TABLE = Experiment(
    "lost",
    "Lost: table of labelling errors",
    "Section 7.3.1, Table 1",
    "transductive",
    (Cell({"data": "Lost"}, "lost", _UNIT, most=1),),
    LOST,
    _LOST_DIFFERS,
)
_NEWS_DIFFERS = (
    "Labeled Yahoo! News is not to be had. In its place: LFW faces of people with ten pictures and "
    "more, put together in photos of one to three people (1.55 on average, as there) with captions "
    "that name 95% of those shown and half a person more, features gradient histograms (for the "
    "paper's SIFT) in 200 principal components. Photos in which nobody is named are left out, as "
    "the paper assumes. Five splits of whole photos, 80/20, each person in that ratio. newsroom "
    "does not meet the premise (one name is in 20 captions), and LFW as grey values of 16 x 16 "
    "cannot tell methods apart (59% error on true labels): both are left out. MIMLSVM is left "
    "out: of null it has no machine, and where that counts as 0 it answers nothing else. "
)
YAHOO_TABLE = Experiment(
    "yahoo",
    "News photos with captions: test error after training on captions alone",
    "Section 7.3.2, Table 2",
    "photos",
    (Cell({COLLECTION: "LFW"}, "lfw-news", {"composed": True, "mentions": 20}, most=5),),
    YAHOO,
    _NEWS_DIFFERS,
)
YAHOO_ITSELF = Experiment(
    "yahoo-news",
    "Yahoo! News and Soccer as the community shares them, where the files are",
    "Section 7.3.2, Table 2",
    "photos",
    (
        Cell({COLLECTION: "Yahoo! News"}, "yahoo-news", {"mentions": 20}, most=5, quick=False),
        Cell({COLLECTION: "Soccer"}, "soccer", {"mentions": 20}, most=5, quick=False),
    ),
    YAHOO,
    "Faces of the very collection with its candidate names, as others share them.",
)

_GAMMAS = (0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 10.0, 20.0)
_LAMBDAS = (0.1, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
_NAMES = tuple(entry.name for entry in (*MCAR, *MCAR_DEARER, *MCAR_DEFAULT))
_STAGES = tuple(name for name in _NAMES if name.startswith("WMCar-ICE"))
_ALONE = ("WMCar", f"WMCar{LETTER}")


def _lost(part: str, methods: tuple[str, ...], at: dict[str, float], **more: Any) -> Cell:
    params = {_PARAMETER[name]: value for name, value in at.items()}
    return Cell(at, "lost", _UNIT, params=params, part=part, methods=methods, most=1, **more)


_PARAMETER = {
    LAMBDA: "noise_weight",
    GAMMA: "sparsity_weight",
    ROUNDS: "max_rounds",
    ELIMINATED: "fraction",
}
SENSITIVITY = Experiment(
    "sensitivity",
    "Lost: error over λ and γ, over γ for the four variants, and over the rounds of ICE",
    "Section 7.4, Figures 9 to 11",
    "transductive",
    (
        *(
            _lost("λ and γ", _ALONE, {LAMBDA: lam, GAMMA: gamma}, quick=gamma in (1.0, 2.0, 10.0))
            for lam, gamma in product(_LAMBDAS, _GAMMAS)
        ),
        *(_lost("γ", _NAMES, {GAMMA: gamma}, quick=gamma in (0.1, 2.0, 10.0)) for gamma in _GAMMAS),
        *(
            _lost("rounds", _STAGES, {ELIMINATED: f, ROUNDS: r}, quick=r in (1, 3, 5))
            for f, r in product((0.0, 0.25, 0.5, 0.75, 1.0), range(1, 11))
        ),
    ),
    (*MCAR, *MCAR_DEARER, *MCAR_DEFAULT),
    _LOST_DIFFERS + "Where γ alone varies λ is that of the setting. Claims are judged on pixels, "
    "where the paper judged them: see parameters.",
)
_small = partial(Cell, data="fiw10b", options={"each": 25}, ambiguity={"n_extra": 3})
_PIXEL_LAMBDAS, _PIXEL_GAMMAS = (0.3, 0.5, 1.0, 2.0, 3.0), (0.5, 1.0, 2.0, 4.0, 10.0)
_CURVE_GAMMAS = (0.1, 0.5, 1.0, 2.0, 4.0, 10.0, 20.0)
_PIXELS = (*MCAR, *MCAR_CENTRED, *MCAR_DEFAULT)


def _named(entries: tuple[MethodEntry, ...], *starts: str) -> tuple[str, ...]:
    return tuple(entry.name for entry in entries if entry.method in starts)


PARAMETERS = Experiment(
    "parameters",
    "FIW-like, 10 x 25, 3 extra labels: error over λ and γ, and over γ for the four variants",
    "Section 7.4, Figures 9 and 10",
    "transductive",
    (
        *(
            _small(
                {LAMBDA: lam, GAMMA: gamma},
                params={"noise_weight": lam, "sparsity_weight": gamma},
                part="λ and γ",
                methods=_named(_PIXELS, "WMCar"),
                most=5,
                quick=gamma in (1.0, 4.0) and lam in (0.3, 1.0, 3.0),
            )
            for lam, gamma in product(_PIXEL_LAMBDAS, _PIXEL_GAMMAS)
        ),
        *(
            _small(
                {GAMMA: gamma},
                params={"sparsity_weight": gamma},
                part="γ",
                methods=_named(_PIXELS, "MCar", "WMCar", "MCar-ICE", "WMCar-ICE"),
                most=5,
                quick=False,
            )
            for gamma in _CURVE_GAMMAS
        ),
    ),
    _PIXELS,
    "The paper varies both on the pixels of Lost, which are not to be had; these are FIW-like's.",
)
DISTRIBUTION = Experiment(
    "distribution",
    "Lost: which candidates go with which true label, and class sizes true and estimated",
    "Section 7.3.1, Figures 7 and 8",
    "distribution",
    (Cell({"data": "Lost"}, "lost", _UNIT, most=1),),
    (MethodEntry("candidates", "WMCar"),),
)
DECOMPOSITION = Experiment(
    "decomposition",
    "Pictures: original, equalised X, low-rank Z, noise E_X",
    "Sections 7.2.1 and 7.2.2, Figure 6",
    "decomposition",
    (
        _fiw({PICTURES: "FIW-like"}, ambiguity={"n_extra": 1}, most=1),
        _pie({PICTURES: "PIE"}, ambiguity={"n_extra": 1}, most=1),
    ),
    (MCAR[0], MCAR_CENTRED[0], MCAR_DEFAULT[0]),
    "Which labels the paper's pictures were made with is not said; here every face has 1 extra.",
)


_PROJECTED = (*MCAR[:2], *MCAR_CENTRED[:2], *MCAR_DEARER[:2], *MCAR_DEFAULT[:2])


def _projected(kind: str) -> tuple[MethodEntry, ...]:
    return tuple(
        MethodEntry(f"{kind}: {entry.name}", entry.method, {**entry.params, "projection": kind})
        for entry in _PROJECTED
    )


def _both(*endings: str) -> tuple[str, ...]:
    names = (f"{kind}: {name}" for kind in ("simple", "euclidean") for name in ("MCar", "WMCar"))
    return tuple(f"{name}{ending}" for name in names for ending in endings)


PROJECTIONS = Experiment(
    "projection",
    "The simple projection against the Euclidean one, and what iterations do",
    "Section 7.5",
    "iterations",
    (
        Cell(
            {PROJECTION: "Lost"}, "lost", _UNIT, methods=_both(LETTER, CENTRED, DEARER, ""), most=1
        ),
        _fiw(
            {PROJECTION: "FIW-like, 3 extra"},
            ambiguity={"n_extra": 3},
            methods=_both(LETTER, CENTRED, ""),
            most=5,
            quick=False,
        ),
        _pie(
            {PROJECTION: "PIE, 3 extra"},
            ambiguity={"n_extra": 3},
            methods=_both(LETTER, CENTRED, ""),
            most=5,
        ),
    ),
    (*_projected("simple"), *_projected("euclidean")),
    "The paper says neither on which data nor how much worse.",
)

_three = partial(_named, (*MCAR, *MCAR_CENTRED, *MCAR_DEFAULT))
PARTNERS = Experiment(
    "partners",
    "FIW-like: partners as a permutation, so that labels go together without imbalance",
    "Section 7.2.1, the explanations of Figure 4(b)",
    "halves",
    tuple(
        _fiw(
            {"partners": kind, EPSILON: epsilon},
            ambiguity={"partners": kind, "cooccurrence": epsilon},
            methods=(
                *_three("MCar", "WMCar"),
                *(("CLPL", "IPAL", "WMCar-ICE (paper, centred)") if kind == PAIRS else ()),
            ),
            most=10,
            quick=False,
        )
        for kind, epsilon in ((PERMUTATION, 0.9), (PERMUTATION, 0.5), (PAIRS, 1.0))
    ),
    INDUCTIVE,
    "Not in the paper: it explains by imbalance what co-occurrence could do as well.",
)
SHIFTED = Experiment(
    "shifted",
    "FIW-like, 10 x 25, 2 extra labels: crops moved by up to 3 pixels",
    "Section 7.2.1, on Figure 6(a)",
    "transductive",
    tuple(
        Cell(
            {"moved by up to": pixels},
            "fiw10b",
            {"each": 25} | ({"shift": pixels} if pixels else {}),
            {"n_extra": 2},
            most=10,
            quick=False,
        )
        for pixels in (0, 3)
    ),
    tuple(
        entry
        for entry in FACES
        if entry.method in ("MCar", "WMCar", "naive", "CLPL", "IPAL", "RowSpace")
    ),
    "Not in the paper, which says that its crops are not well aligned; ours are.",
)
_ELIMINATED = tuple(entry for entry in EVERY_SETTING if entry.method in ("MCar", "WMCar"))


def _eliminating(cell: Callable[..., Cell], on: str, f: float, update: bool, **more: Any) -> Cell:
    options = {**more.pop("options"), "fraction": f, "max_rounds": 10, "update": update}
    weights = "updated" if update else "of the first round"
    at = {"on": on, ELIMINATED: f, "W": weights}
    return cell(at, options=options, quick=False, **more)


_FIW_ELIMINATED = {
    "options": {"each": 25},
    "ambiguity": {"n_extra": 3},
    "methods": _named((*MCAR, *MCAR_CENTRED, *MCAR_DEFAULT), "WMCar"),
    "most": 5,
}
_LOST_ELIMINATED = {"options": _UNIT, "most": 1}
ELIMINATION = Experiment(
    "elimination",
    "ICE round by round: errors, how many true labels are removed, and W updated or not",
    "Sections 5 and 7.4, Figure 11",
    "elimination",
    (
        *(
            _eliminating(partial(Cell, data="lost"), "Lost", f, update, **_LOST_ELIMINATED)
            for f, update in ((0.0, True), (0.25, True), (0.5, True), (1.0, True), (0.5, False))
        ),
        *(
            _eliminating(partial(Cell, data="fiw10b"), "FIW-like", f, update, **_FIW_ELIMINATED)
            for f, update in ((0.0, True), (0.25, True), (0.5, True), (1.0, True), (0.5, False))
        ),
    ),
    _ELIMINATED,
    "The paper shows errors over rounds on Lost; which labels are removed it does not say.",
)
REMOVAL = Experiment(
    "removal",
    "A tenth of the faces loses its true label: errors of faces near to them and far from them",
    "Section 7.4, the last paragraph",
    "removal",
    (
        Cell(
            {"on": "FIW-like"},
            "fiw10b",
            {"each": 25},
            {"n_extra": 3},
            most=10,
            quick=False,
            methods=_named((*MCAR, *MCAR_CENTRED, *MCAR_DEFAULT), "WMCar"),
        ),
        Cell(
            {"on": "PIE"},
            "pie",
            {"people": 18, "each": 21},
            {"n_extra": 3},
            most=10,
            quick=False,
            methods=_named((*MCAR, *MCAR_CENTRED, *MCAR_DEFAULT), "WMCar"),
        ),
        Cell(
            {"on": "Lost"},
            "lost",
            _UNIT,
            most=10,
            methods=_named((*MCAR_DEARER, *MCAR_DEFAULT), "WMCar"),
        ),
    ),
    _ELIMINATED,
    "Not in the paper, which says that such errors spread.",
)
_OVER = ("CLPL", "naive", "IPAL", "RowSpace")
ICE_OVER_OTHERS = Experiment(
    "ice-over-others",
    "FIW-like: candidates eliminated over other methods",
    "Section 5, the last sentence",
    "halves",
    tuple(_fractions(_fiw, (0.5, 0.95), ())),
    tuple(
        MethodEntry(f"{name}{'-ICE' * ice}", name, eliminates=ice)
        for name in _OVER
        for ice in (False, True)
    ),
    "Not in the paper, which says that ICE can be used by others.",
)
NAMED = Experiment(
    "named",
    "LFW: the constraint that somebody be named, on and off",
    "Section 6, on the constraint (32)",
    "photos",
    (Cell({COLLECTION: "LFW"}, "lfw-news", {"composed": True, "mentions": 20}, most=5),),
    tuple(
        MethodEntry(
            f"{entry.name}, {'somebody' if on else 'nobody'} has to be named",
            entry.method,
            {**entry.params, "at_least_one": on},
            quick=False,
        )
        for entry in EVERY_SETTING
        if entry.method in ("MCar", "WMCar")
        for on in (True, False)
    ),
    "Not in the paper, which says what the constraint is for.",
)
PROPOSITIONS = Experiment(
    "propositions",
    "Ranks of [P; X] without noise, and how far two soft labels can move apart",
    "Sections 3.1 and 7.5",
    "propositions",
    (Cell({"on": "made-up hulls"}, "digits", most=10),),
    (MethodEntry("ranks", "MCar"),),
)
_CHANGES: dict[str, dict[str, Any]] = {
    "letter": {},
    "letter, centred": {"center": True},
    "letter, 1/μ0 = σ_c": {"start": "rank"},
    "letter, norm 5": {"norm": 5.0},
    "letter, ρ = 1.1": {"rho": 1.1},
    "letter, tolerance 1e-5": {"tol": 1e-5},
}
ONE_CHANGE = Experiment(
    "one-change",
    "From the letter one change at a time: what resolves more",
    "Section 7.2",
    "transductive",
    (
        *(_pie({"on": f"PIE, {n} extra"}, ambiguity={"n_extra": n}, most=5) for n in (7, 9)),
        _fiw({"on": "FIW-like, 4 extra"}, ambiguity={"n_extra": 4}, most=5, quick=False),
    ),
    tuple(
        MethodEntry(name, "MCar", {**PARAMS[LETTER], **change}) for name, change in _CHANGES.items()
    ),
    "Not in the paper, which says neither where μ starts nor how fast it grows.",
)

_KEPT = "kept-back"
_TESTED_LAMBDAS = (0.3, 1.0, 3.0)
_TESTED_GAMMAS = {"λ and γ": (1.0, 2.0, 4.0), "γ": (0.1, 1.0, 2.0, 4.0, 20.0)}
_TESTED = (
    *(
        entry
        for ending in (LETTER, CENTRED, "")
        for entry in variants(ending, ("MCar", "WMCar", "WMCar-ICE"))
    ),
    *PRIOR,
    BOUND,
)
_OTHERS_KEPT = "Not in the paper, which keeps nothing back here: "
_of_50: dict[str, Any] = {"train": 25}
_of_42: dict[str, Any] = {"people": 18, "each": 42, "train": 21}


def _kept(cell: Cell, options: dict[str, Any]) -> Cell:
    """Return the same problem with faces kept back: so many a person to train on, or a part."""
    return replace(cell, options=options, most=5, quick=False)


LOST_TEST = replace(
    LOST_TABLE,
    name="lost-test",
    title="Lost: error on a fifth of the faces that is kept back",
    protocol=_KEPT,
    cells=(Cell({"data": "Lost"}, "lost", {**_UNIT, "train": 0.8}, most=5, quick=False),),
    methods=(*LOST, BOUND),
    differs=_OTHERS_KEPT + "a random fifth, each person in that ratio, without candidates.",
)
PIE_FRACTION_TEST = replace(
    PIE_FRACTION,
    name="pie-fraction-test",
    title="PIE 18 x 21: part of the faces is ambiguous, error on 21 other pictures of each person",
    protocol=_KEPT,
    cells=tuple(
        _kept(cell, _of_42) for cell in PIE_FRACTION.cells if cell.at[FRACTION] in (0.5, 0.95)
    ),
    methods=_TESTED,
    differs=_OTHERS_KEPT + "the labels are those of the experiment above.",
)
PIE_EXTRA_TEST = replace(
    PIE_EXTRA,
    name="pie-extra-test",
    title="PIE 18 x 21: extra labels, error on 21 other pictures of each person",
    protocol=_KEPT,
    cells=tuple(_kept(cell, _of_42) for cell in PIE_EXTRA.cells if cell.at[EXTRA] in (1, 3, 7, 9)),
    methods=_TESTED,
    differs=_OTHERS_KEPT + "the labels are those of the experiment above.",
)
FIW_EXTRA_TEST = replace(
    FIW_EXTRA,
    name="fiw-extra-test",
    title="FIW-like: extra labels, error on the other half",
    protocol=_KEPT,
    cells=tuple(
        _kept(cell, {"train": 0.5}) for cell in FIW_EXTRA.cells if cell.at[EXTRA] in (2, 4, 6, 8)
    ),
    methods=_TESTED,
    differs=_OTHERS_KEPT + "half of the faces have candidates, as in Figure 4(a).",
)
SHIFTED_TEST = replace(
    SHIFTED,
    name="shifted-test",
    title="FIW-like, 10 x 25, moved by up to 3 pixels: error on 25 other faces of each person",
    protocol=_KEPT,
    cells=tuple(
        _kept(cell, _of_50 | {k: v for k, v in cell.options.items() if k == "shift"})
        for cell in SHIFTED.cells
    ),
    differs=_OTHERS_KEPT + "faces kept back are moved as well.",
)
_parts: tuple[dict[str, Any], ...] = ({**_UNIT, "train": 0.8}, {"train": 0.5}, _of_42)
PARAMETERS_TEST = replace(
    PARAMETERS,
    name="parameters-test",
    title="FIW-like, 10 x 25: λ and γ, error on 25 other faces of each person",
    protocol=_KEPT,
    cells=tuple(
        _kept(cell, _of_50)
        for cell in PARAMETERS.cells
        if cell.at[GAMMA] in _TESTED_GAMMAS[cell.part]
        and cell.at.get(LAMBDA, 1.0) in _TESTED_LAMBDAS
    ),
    differs=_OTHERS_KEPT + "a coarser grid.",
)
_ROUNDS_KEPT: dict[str, dict[str, Any]] = {"lost": {"train": 0.8}, "fiw10b": {"each": 50} | _of_50}
ELIMINATION_TEST = replace(
    ELIMINATION,
    name="elimination-test",
    title="ICE round by round: test error that the labels of every round give",
    protocol="elimination-kept-back",
    cells=tuple(
        replace(
            _kept(cell, {**cell.options, **_ROUNDS_KEPT[cell.data]}),
            methods=tuple(e.name for e in ELIMINATION.entries(cell) if e.method == "WMCar"),
        )
        for cell in ELIMINATION.cells
    ),
    differs=_OTHERS_KEPT + "a fifth of Lost, 25 other faces of each person of FIW-like.",
)
PROJECTIONS_TEST = replace(
    PROJECTIONS,
    name="projection-test",
    title="The simple projection against the Euclidean one: error on faces that are kept back",
    protocol=_KEPT,
    cells=tuple(
        _kept(cell, options) for cell, options in zip(PROJECTIONS.cells, _parts, strict=True)
    ),
    differs=_OTHERS_KEPT + "a fifth of Lost, half of FIW-like, 21 other pictures a person of PIE.",
)

EXPERIMENTS = (
    LOST_TABLE,
    DISTRIBUTION,
    PROPOSITIONS,
    FIW_FRACTION,
    FIW_COOCCURRENCE,
    YAHOO_TABLE,
    YAHOO_ITSELF,
    PIE_EXTRA,
    PIE_FRACTION,
    ELIMINATION,
    PARTNERS,
    REMOVAL,
    NAMED,
    PROJECTIONS,
    ONE_CHANGE,
    SENSITIVITY,
    PARAMETERS,
    SHIFTED,
    ICE_OVER_OTHERS,
    DECOMPOSITION,
    FIW_EXTRA,
    LOST_TEST,
    SHIFTED_TEST,
    PIE_FRACTION_TEST,
    PIE_EXTRA_TEST,
    FIW_EXTRA_TEST,
    PROJECTIONS_TEST,
    PARAMETERS_TEST,
    ELIMINATION_TEST,
)
"""In the order they are run: what says most for its time first."""


def experiment(name: str) -> Experiment:
    """Return an experiment by its name.

    Examples
    --------
    >>> experiment("lost").title
    'Lost: table of labelling errors'
    """
    for one in EXPERIMENTS:
        if one.name == name:
            return one
    known = ", ".join(one.name for one in EXPERIMENTS)
    raise ValueError(f"there is no experiment {name!r}; there are {known}")
