"""Labelled texts with other people's names, so that a model learns the words around them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from benchmarks.captions.labelled_texts import LabelledText
from benchmarks.captions.train_tagger import sentences
from candidly.photos.names.lexicon import PARTICLES, fold, lexicon
from candidly.photos.names.tokens import languages, tokenize

LANGUAGES = ("de", "en", "es", "fr")
CREDITED = 0.25
"""Part of the texts that get a credit at the end."""
_CREDITS = (
    *(" Foto: {x}", " Foto: {X}", ". Foto: {x}/{a}", " (Foto: {x})", " | Foto: {x}", " Bild: {x}"),
    *(" Photo: {x}", " Photo: {x}/{a}", " (Photo by {x}/{a})", " Photo by {x}", " PHOTO: {X}"),
    *(" ({a} Photo/{x})", " ({a} Photo/{x}, File)", " {a}/{x}", " {x}/{a}", " ({x}/{a})"),
    *(" © {x}", " © {a}/{x}", " © {x} / {a}", ". / {X}", ". {a} / {X}", " {a} PHOTO / {X}"),
    *(" ({x}/{p} Staff)", " ({x}/For the {p})", " {x} for {p}", " {a}, {x}", " Credit: {x}"),
    *(" (Credit: {x}/{a})", " Photo Credit: ({b}/{x})", " ({b}/{t} {x})", " {t} {x}/{b}"),
    *(" Quelle: {a}/{x}", " (Quelle: {x})", " | Bildquelle: {a}", " Crédit photo : {x}", "./{a}"),
    *(" Photo {x}/{a}", " Photograph: {x}/{a}", " Photo / {x}", " / Bild: {a}/{x}", " Fotos: {x}"),
)
_AGENCIES = ("AP", "AFP", "Reuters", "REUTERS", "Getty Images", "EPA", "dpa", "EFE", "imago", "PA")
_PAPERS = ("Globe", "Herald", "Express-News", "Post-Gazette", "Tribune", "Courier")
_BODIES = ("NASA", "U.S. Army", "U.S. Navy", "U.S. Air Force", "Marine Corps", "ESA", "Army")
_RANKS = ("Sgt.", "Staff Sgt.", "Spc.", "Cpl.", "Petty Officer 2nd Class", "Tech. Sgt.", "Airman")
_PLAIN = re.compile(r"[^\W\d_][\w'\u2019.-]*[\w.]")


def people_of(folder: Path) -> dict[str, list[str]]:
    """Return names of two to four words that the sentences of ``ner/`` have, by language."""
    found = {}
    for language in LANGUAGES:
        names = set()
        for words, tags in sentences(folder / f"wikiann-{language}.txt.xz"):
            for at, tag in enumerate(tags):
                end = at + 1
                while tag == "B-PER" and end < len(tags) and tags[end] == "I-PER":
                    end += 1
                own = words[at:end]
                if 2 <= len(own) <= 4 and all(map(_in_a_name, own)):
                    names.add(" ".join(own))
        found[language] = sorted(names)
    return found


def _in_a_name(word: str) -> bool:
    """Return whether a word may be part of a name: The Lady of Rage is none."""
    if word in PARTICLES:
        return True
    common = word.casefold() in lexicon().words["function"] or fold(word) in lexicon().bodies
    return word[0].isupper() and _PLAIN.fullmatch(word) is not None and not common


def exchanged(
    labelled: LabelledText, people: dict[str, list[str]], rng: np.random.Generator
) -> LabelledText | None:
    """Return a text with all people exchanged, perhaps with a credit; None for the same text."""
    named = [(start, end) for start, end, kind in labelled.spans if kind in {"p", "c"}]
    credited = rng.random() < CREDITED
    if not (named or credited) or any("," in labelled.text[start:end] for start, end in named):
        return None
    tokens = tokenize(labelled.text)
    spoken = languages(tokens)[tokens[0].sentence]
    if rng.random() < 0.3:
        spoken = LANGUAGES[rng.integers(len(LANGUAGES))]
    text, spans = "", []
    chosen: dict[str, str] = {}
    last = 0
    for start, end, kind in sorted(labelled.spans):
        old = labelled.text[start:end]
        new = _other(old, people[spoken], chosen, rng) if kind in {"p", "c"} else old
        text += labelled.text[last:start]
        spans.append((len(text), len(text) + len(new), kind))
        text += new
        last = end
    text += labelled.text[last:]
    if credited:
        text += credit(people[spoken], rng)
    return LabelledText(text, tuple(spans), labelled.source)


def credit(people: list[str], rng: np.random.Generator) -> str:
    """Return a credit with a photographer."""

    def one(choices: tuple[str, ...] | list[str]) -> str:
        return choices[rng.integers(len(choices))]

    who = one(people)
    return one(_CREDITS).format(
        x=who, X=who.upper(), a=one(_AGENCIES), p=one(_PAPERS), b=one(_BODIES), t=one(_RANKS)
    )


def _other(old: str, people: list[str], chosen: dict[str, str], rng: np.random.Generator) -> str:
    """Return another name of the same form; the same surname has the same name instead."""
    words = old.split()
    whole = chosen.setdefault(words[-1], people[rng.integers(len(people))])
    if len(words) == 1:
        given = lexicon().is_given(fold(old))
        whole = whole.split()[0 if given else -1]
    else:
        whole = _decorated(whole.split(), rng)
    return whole.upper() if old.isupper() and len(old) > 3 else whole


def _decorated(words: list[str], rng: np.random.Generator) -> str:
    """Return a name, now and then with initials, a nickname or a suffix, or the surname alone."""
    first, rest = words[0], words[1:]
    letter = "ABCDEFGHJKLMPRSTW"[rng.integers(17)]
    forms = {
        0.05: [first, f"{letter}.", *rest],
        0.08: [f"{first[0]}.", *rest],
        0.10: [f"{first[0]}.{letter}.", *rest],
        0.12: [f"{first[0]}{letter}", *rest],
        0.15: [*words, ("Jr.", "Jr", "Sr.", "III")[rng.integers(4)]],
        0.17: [first, ('"Buddy"', "“The Boss”", "(Lou)", "[Fatty]")[rng.integers(4)], *rest],
        0.19: [first, f"{rest[-1]}-{first}"],
        0.27: rest[-1:],
    }
    drawn = rng.random()
    return " ".join(next((own for limit, own in forms.items() if drawn < limit), words))
