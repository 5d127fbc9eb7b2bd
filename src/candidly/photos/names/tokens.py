"""The words of a text, each with its span, its sentence and how it is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from candidly.photos.names.lexicon import SMALL_WORDS, fold, lexicon, word_set

PARTY = r"(?:,\s?|\()[DRI]-(?:[A-Z]\.){0,2}(?:[A-Z][A-Za-z]+\.?(?:\s[A-Z][a-z]+)?)?\)?"
_OTHER = (
    r"<[^<>\n]{0,200}>",
    # Sen. Edward Kennedy, D-Mass., and Rep. Peter King (R-NY)
    PARTY,
    r"\b(?:https?://|www\.)\S{1,300}",
    r"\b[\w.+-]{1,60}@[\w.-]{1,60}",
    r"(?<!\w)[@#]\w{1,60}",
    r"\b(?:IMG|DSC|DSCN|DSCF|PICT|MVI|SAM)[-_ ]?\d+\w*(?:\.\w{2,4})?",
    r"\b\w{1,80}\.(?:jpe?g|JPE?G|png|PNG|tiff?|TIFF?|heic|HEIC|webp)\b",
    r"(?:\.\.[/\\])+\S{0,200}",
)
_LEFT_OUT = re.compile("|".join(f"(?:{pattern})" for pattern in _OTHER))
_LETTER = r"(?:[^\W\d_][\u0300-\u036f]*)"
_TOKEN = re.compile(
    rf"(?P<initials>(?:[A-Z]\.){{2,}})"
    rf"|(?P<word>(?>{_LETTER}+(?:['’\-‐‑·]{_LETTER}+)*)(?![\d_]))"
    rf"|(?P<mixed>[^\W\d_]\w*)"
    rf"|(?P<number>\d+(?:[.,:]\d+)*\w*)"
    rf"|(?P<mark>[^\w\s]|_+)"
)
# Elisions of French and Italian: "d'Estaing", "l'actrice". D'Angelo is one word.
_TIED = re.compile(
    r"(?:[dlnmtscj]|qu|dell|all|nell|sull|dall)['’]|(?:[LTSCJ]|Qu)['’]|I['’](?=[mvld])"
    r"|[DNM]['’](?=[^\W\d_A-ZÀ-Þ])"
)
_OWNED = re.compile(r"['’][sS]$")
SHORT = word_set(
    "pres amb sec cllr pte det"
    " mr mrs ms dr prof sr sra srta dra dna sen rep gov gen lt maj col capt cpt sgt cpl"
    " cmdr adm brig rev fr hon jr st ste mt mme mlle mgr msgr jan feb mar apr jun jul aug"
    " sep sept oct nov dec no hr frl geb bzw ca dist atty pfc pvt supt insp ft univ dept co"
    " gnr spr lcpl dott ing avv bros wm geo chas jas jno thos robt benj saml edw fredk"
    " wwe vve lieut"
)
_ENDS = frozenset(".!?…")
WRAPPED = 60  # a line at least this long was broken by its editor, not by its author


@dataclass(slots=True)
class Token:
    """A word, a number or a mark; ``kind`` is "cap", "inner", "low", "num" or "mark".

    "inner" is a word that starts small and has a capital later: al-Assad, dEstaing.
    ``joined`` says that only blanks stand between it and the token before.
    """

    text: str
    start: int
    end: int
    kind: str
    fold: str
    sentence: int = 0
    first: bool = False
    joined: bool = True
    owned: bool = False

    @property
    def initial(self) -> bool:
        """Whether it is an initial: "W.", "J.K.", or "JK" as agencies write it."""
        letters = self.text.replace(".", "")
        if not letters.isupper() or not letters.isalpha():
            return False
        return len(letters) == 1 or (len(letters) == 2 and letters not in {"AP", "UN", "EU", "TV"})

    @property
    def capitals(self) -> bool:
        """Whether all of its letters are capitals, and more than two."""
        return len(self.text) > 2 and self.text.upper() == self.text != self.text.lower()


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a text in order, without links, markup and file names."""
    tokens: list[Token] = []
    left_out = [match.span() for match in _LEFT_OUT.finditer(text)]
    sentence, fresh, at, broken, last_end = 0, True, 0, False, 0
    for token in _cut(text):
        while at < len(left_out) and left_out[at][1] <= token.start:
            at, broken = at + 1, True
        if at < len(left_out) and left_out[at][0] < token.end:
            broken = True
            continue
        between = text[last_end : token.start]
        if "\n" in between or "\r" in between:
            line = last_end - (max(text.rfind("\n", 0, last_end), -1) + 1)
            if line < WRAPPED or between.count("\n") > 1 or token.kind == "mark":
                broken, fresh = True, True
        fresh = fresh or broken
        token.joined = not broken and between.strip() == "" and bool(tokens)
        if tokens and _ends(tokens[-1], token):
            fresh = True
        if fresh and token.kind != "mark":
            sentence += 1
            token.first = True
            fresh = False
        token.sentence = sentence
        tokens.append(token)
        last_end, broken = token.end, False
        if token.owned:
            last_end += 2
    return tokens


def _ends(last: Token, token: Token) -> bool:
    """Return whether a sentence ends between two tokens: "Elizabeth II. begrüßt" goes on."""
    return last.kind == "mark" and last.text in _ENDS and token.kind not in {"low", "mark"}


def _cut(text: str) -> Iterator[Token]:
    done = 0
    for match in _TOKEN.finditer(text):
        start, end, kind = match.start(), match.end(), match.lastgroup
        if start < done:  # the dot of "Mr.", taken already
            continue
        if kind in {"number", "mixed"}:
            yield Token(match.group(), start, end, "num", match.group())
        elif kind == "mark":
            yield Token(match.group(), start, end, "mark", match.group())
        elif kind == "initials":
            yield Token(match.group(), start, end, "cap", fold(match.group()).removesuffix("."))
        else:
            for token in _word(text, start, end):
                yield token
                done = token.end


def _word(text: str, start: int, end: int) -> Iterator[Token]:
    if tied := _TIED.match(text, start, end):
        yield Token(tied.group(), start, tied.end(), "low", fold(tied.group()))
        start = tied.end()
    word = text[start:end]
    owned = _OWNED.search(word) is not None and len(word) > 3
    if owned:
        end, word = end - 2, word[:-2]
    folded = fold(word)
    if not owned and text[end : end + 1] == "." and _keeps_dot(text, word, folded, end):
        word, end = word + ".", end + 1
    if word[0].isupper() or word[0].istitle():
        kind = "cap"
    elif any(c.isupper() for c in word) and len(word) > 2:
        kind = "inner"
    else:
        kind = "low"
    yield Token(word, start, end, kind, folded, owned=owned)


def _keeps_dot(text: str, word: str, folded: str, end: int) -> bool:
    if folded in SHORT:
        return word[0].isupper() or folded in {"geb", "bzw", "ca", "no"}
    follows = text[end + 1 : end + 3].lstrip(" ")[:1]
    return len(word) == 1 and word.isupper() and (follows.isupper() or follows in {",", "'"})


_LETTERS_OF = {"de": frozenset("äöüßÄÖÜ"), "es": frozenset("ñ¿¡Ñ"), "fr": frozenset("çêèàùœÇÊÈÀ")}


def languages(tokens: list[Token]) -> dict[int, str]:
    """Return each sentence's language by its small words; the whole text's where it has none."""
    words = lexicon().words
    counts: dict[int, dict[str, int]] = {}
    total = dict.fromkeys(SMALL_WORDS, 0)
    for token in tokens:
        if token.kind != "low" and not token.first:
            continue
        scores = counts.setdefault(token.sentence, dict.fromkeys(SMALL_WORDS, 0))
        for language, kind in SMALL_WORDS.items():
            if token.fold in words[kind]:
                scores[language] += 2
                total[language] += 2
    for token in tokens:
        # Letters decide only where small words do not: Schröder is in English captions, too.
        for language, letters in _LETTERS_OF.items():
            total[language] += not letters.isdisjoint(token.text)
    whole = max(total, key=lambda key: (total[key], key == "en"))
    result = {}
    for sentence in {token.sentence for token in tokens}:
        scores = counts.get(sentence, {})
        best = max(scores, key=lambda key: (scores[key], key == whole), default=whole)
        result[sentence] = best if scores.get(best) else whole
    return result


def german_genitives(tokens: list[Token], language: dict[int, str]) -> None:
    """Remove the s of "Lenas Geburtstag" and "Bayerns Torhüter", in German sentences."""
    lists = lexicon()
    for at, token in enumerate(tokens[:-1]):
        word, follower = token.fold, tokens[at + 1]
        if token.kind != "cap" or not word.endswith("s") or token.owned or token.capitals:
            continue
        if language[token.sentence] != "de" or word in lists.given or word in lists.places:
            continue
        led = at > 0 and token.joined and tokens[at - 1].kind == "cap"
        owns = follower.kind == "num" or (
            follower.kind == "cap"
            and (word[:-1] in lists.places or not lists.is_given(follower.fold))
        )
        known = word[:-1] in lists.given or word[:-1] in lists.places
        if known and owns and follower.joined and not led and len(word) > 3:
            token.text, token.fold, token.end = token.text[:-1], word[:-1], token.end - 1
            token.owned = True
