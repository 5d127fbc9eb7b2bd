"""Name candidates of a text, cut from runs of capitalised words.

Where capitals say nothing, in a sentence of CAPITALS, of small letters only, or Where Every Word
Has One, known given names and titles open a candidate instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from candidly.photos.names.labels import NAME, PARTICLES, SUFFIX, label
from candidly.photos.names.lexicon import lexicon, word_set
from candidly.photos.names.tokens import Token

_PAIRED = {'"': '"', "“": "”", "(": ")", "'": "'", "‘": "’", "„": "“"}
_OWNERS = word_set(
    "sein seine seinem seinen seiner ihr ihre ihrem ihren ihrer mein meine unser unsere"
)
LONGEST = 24  # words in a run; more are a headline or a table
_JOINING = PARTICLES - {"y", "e", "i"}


@dataclass(slots=True)
class NameCandidate:
    """A candidate for a name: tokens ``first`` to ``last`` of the text, and its context.

    ``title`` is the kind of title right before it, ``left`` and ``right`` the labels of its
    neighbours in the run, ``where`` what the words before say; ``verdict`` is "yes", "weak",
    "maybe" or "no".
    """

    tokens: list[Token]
    labels: list[str]
    first: int
    last: int
    language: str
    title: str = ""
    kept_title: Token | None = None
    left: str = ""
    right: str = ""
    where: str = ""
    verdict: str = "no"
    surname: str = ""
    full: str = ""
    words: list[Token] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.words = [
            token
            for token, kind in zip(self.tokens, self.labels, strict=True)
            if kind in {"given", "unknown"}
        ]

    @property
    def start(self) -> int:
        """Start of its text, including a title that is part of the name."""
        return (self.kept_title or self.tokens[0]).start

    @property
    def end(self) -> int:
        """End of its text."""
        return self.tokens[-1].end

    @property
    def sentence(self) -> int:
        """Sentence that it is in."""
        return self.tokens[0].sentence

    @property
    def given(self) -> bool:
        """Whether one of its words is a given name."""
        return "given" in self.labels

    @property
    def solid(self) -> bool:
        """Whether an initial, a particle or a suffix shows that it is a name."""
        return any(kind in {"initial", "particle", "suffix"} for kind in self.labels)

    def name(self) -> str:
        """Return its text as a name: single blanks, no words of CAPITALS, no nickname."""
        if self.full:
            return self.full
        shown = [self.kept_title] if self.kept_title else []
        shown += [
            token
            for token, kind in zip(self.tokens, self.labels, strict=True)
            if kind != "nickname" and token.kind != "mark"
        ]
        words = [_spelled(token) for token in shown]
        if all(token.kind == "low" for token in shown):
            words = [word if word in PARTICLES else word[:1].upper() + word[1:] for word in words]
        text = words[0]
        for before, token, word in zip(shown, shown[1:], words[1:], strict=False):
            text += word if token.start == before.end and before.kind == "low" else " " + word
        if self.surname:
            text += " " + self.surname
        return text.rstrip(".")


def _spelled(token: Token) -> str:
    word = token.text
    if not token.capitals or SUFFIX.fullmatch(word) or "." in word:
        return word
    if len(word) == 3 and not re.search("[AEIOUYÄÖÜÉÈÁÍÓÚ]", word):
        return word
    return small(word)


def small(word: str) -> str:
    """Return a word of capitals in small letters: O'Neill, al-Assad, McCartney, van."""
    if word.casefold() in PARTICLES:
        return word.lower()
    parts = re.split(r"([-'’])", word)
    done = [part[:1].upper() + part[1:].lower() for part in parts]
    if parts[0].casefold() in {"al", "el"} and len(parts) > 1:
        done[0] = done[0].lower()
    return re.sub(r"^(Mc)([a-z])", lambda m: m[1] + m[2].upper(), "".join(done))


def find_runs(tokens: list[Token]) -> Iterator[tuple[int, int]]:
    """Yield (first, end) of each run: capitalised words with particles and nicknames between."""
    at, size = 0, len(tokens)
    while at < size:
        if tokens[at].kind != "cap":
            at += 1
            continue
        end = at + 1
        while end < size and end - at < LONGEST and not tokens[end - 1].owned:
            step = _step(tokens, end) or _double(tokens, at, end)
            if not step:
                break
            end += step
        yield at, end
        at = end


def _step(tokens: list[Token], at: int) -> int:
    """Return how many tokens from ``at`` on continue a run: 0 for none."""
    token = tokens[at]
    if not token.joined or token.first:
        return 0
    if token.kind in {"cap", "inner"}:
        return 1
    ahead = tokens[at + 1 : at + 6]
    if token.kind == "low" and token.fold in _JOINING:
        for size, follower in enumerate(ahead, start=1):
            if not follower.joined or follower.first:
                return 0
            if follower.kind in {"cap", "inner"}:
                return size + 1
            if follower.fold not in PARTICLES or size > 2:
                return 0
        return 0
    if token.text == "," and ahead and re.fullmatch(r"(?:Jr|Sr)\.?", ahead[0].text):
        return 2
    if token.text in _PAIRED and tokens[at - 1].end < token.start:
        for size, follower in enumerate(ahead, start=1):
            closed = follower.text == _PAIRED[token.text]
            if closed and size > 1 and size < len(ahead) and ahead[size].kind == "cap":
                # A nickname: Dwayne "The Rock" Johnson; (L) and (AP) are none.
                inside = ahead[: size - 1]
                nickname = len(inside[0].text) > 2 and not lexicon().is_nobody(inside[-1].fold)
                return size + 2 if nickname and ahead[size].joined else 0
            if follower.kind != "cap":
                return 0
    return 0


def _double(tokens: list[Token], first: int, at: int) -> int:
    """Return how many tokens add a second surname with y or i: 2 in Santiago Ramón y Cajal."""
    ahead = tokens[at + 1 : at + 3]
    lists = lexicon()
    if tokens[at].fold not in {"y", "i"} or at - first < 2 or not ahead or ahead[0].kind != "cap":
        return 0
    single = len(ahead) == 1 or ahead[1].kind != "cap" or not ahead[1].joined
    if not single or not ahead[0].joined or not lists.is_given(tokens[first].fold):
        return 0
    if lists.is_given(ahead[0].fold) or lists.is_nobody(ahead[0].fold):
        return 0
    plural = len(ahead) > 1 and re.fullmatch(r"[^\W\d_]{2,}[aeo]n", ahead[1].text)
    # With y two people are far more frequent; these are the names everybody knows.
    known = ahead[0].fold in {"cajal", "gasset", "margall", "palacios"}
    return 0 if plural or (tokens[at].fold == "y" and not known) else 2


def cut(tokens: list[Token], first: int, end: int, language: str) -> list[NameCandidate]:
    """Return the candidates of a run, with the titles and places between as context."""
    run = tokens[first:end]
    inner = _nicknames(run)
    kept = [token for token in run if token.kind != "mark" and id(token) not in inner]
    labels_of = dict(zip(map(id, kept), label(kept, language), strict=True))
    labels = [labels_of.get(id(token), "nickname") for token in run]
    if labels[0] in {"body", "place", "calendar"} and _is_kin(tokens, first):
        lists, word = lexicon(), run[0].fold
        if lists.is_given(word) or word in lists.doubtful:
            labels[0] = "given"  # her daughter Sierra
    if len(run) == 1 and labels[0] == "calendar" and _is_listed(tokens, first):
        labels[0] = "given"  # Steve, Jan and Brooke
    if language == "de" and len(run) > 1:
        _part_noun(tokens, first, labels)
    _part_particles(run, labels)
    items, at = [], 0
    while at < len(run):
        if labels[at] not in NAME:
            at += 1
            continue
        stop = at
        while stop < len(run) and labels[stop] in NAME | {"particle", "suffix", "nickname"}:
            stop += 1
        while labels[stop - 1] in {"particle", "nickname"}:
            stop -= 1
        item = NameCandidate(run[at:stop], labels[at:stop], first + at, first + stop - 1, language)
        item.left = labels[at - 1] if at else ""
        item.right = labels[stop] if stop < len(run) else ""
        if at and labels[at - 1] == "title":
            _set_title(item, run[at - 1])
        items.append(item)
        at = max(stop, at + 1)
    return items


def _is_listed(tokens: list[Token], at: int) -> bool:
    """Return whether a given name that is also a month is listed, with no number beside it."""
    if at == 0 or at + 1 >= len(tokens) or not lexicon().is_given(tokens[at].fold):
        return False
    near = tokens[max(0, at - 2) : at + 3]
    if any(token.kind == "num" or token.fold in lexicon().words["calendar"] for token in near[:2]):
        return False
    listed = tokens[at - 1].text in {",", "&"} or tokens[at - 1].fold in {"and", "und", "y", "et"}
    return listed and tokens[at + 1].text == "," and not any(t.kind == "num" for t in near)


def _is_kin(tokens: list[Token], at: int) -> bool:
    """Return whether a relation in small letters stands right before a token."""
    if at == 0 or not tokens[at].joined or tokens[at - 1].kind != "low":
        return False
    return tokens[at - 1].fold in lexicon().titles["kin"]


def _part_noun(tokens: list[Token], first: int, labels: list[str]) -> None:
    """Label the German noun before a name: "Die Politikerin Park Jie-won"."""
    before = tokens[first - 1] if first and tokens[first].joined else None
    article = before is not None and before.fold in lexicon().words["article"] | _OWNERS
    opened = tokens[first].first and labels[0] == "common" and labels[1] == "unknown"
    at = 1 if opened and tokens[first].fold in lexicon().words["article"] else 0
    if labels[at] != "unknown" or at + 1 >= len(labels):
        return
    if article or at == 1 or (labels[at + 1] == "given" and labels[at + 2 :]):
        labels[at] = "noun"


def _nicknames(run: list[Token]) -> set[int]:
    """Return the ids of the tokens between marks inside a run."""
    inside, found = False, set()
    for token in run:
        if token.kind == "mark" and token.text != ",":
            inside = not inside
        elif inside:
            found.add(id(token))
    return found


def _part_particles(run: list[Token], labels: list[str]) -> None:
    """Label the particles that are prepositions: "Hochzeit von Karl", "María Duarte de Quito"."""
    for at, kind in enumerate(labels):
        if kind != "particle":
            continue
        before = [k for k in labels[:at] if k != "particle"]
        after = next((k for k in labels[at:] if k != "particle"), "")
        named = before[-1:] and before[-1] in NAME | {"suffix"}
        alone = sum(k in NAME for k in before) == 1 and before[-1] == "unknown"
        of = run[at].fold in {"von", "de", "d'", "del", "di", "of"}
        if not named or after not in NAME | {"suffix"} or (alone and of and after == "given"):
            labels[at] = "preposition"


def _set_title(item: NameCandidate, token: Token) -> None:
    """Set the kind of title of a candidate, and keep a title that is part of the name."""
    kinds = (kind for kind in ("royal", "kin", "plain") if token.fold in lexicon().titles[kind])
    item.title = next(kinds, "office")
    names = [kind for kind in item.labels if kind in NAME]
    plain = "particle" not in item.labels and len(names) <= 2
    peer = token.fold in {"lord", "lady", "baroness"} and len(names) > 1
    alone = len(names) == 1 or set(names) == {"given"}
    if item.title == "royal" and plain and alone and not peer:
        # Queen Rania has no other name; King Bhumibol Adulyadej has one.
        item.kept_title = token


def caseless_sentences(tokens: list[Token]) -> set[int]:
    """Return the sentences whose capitals say nothing: all, none, or one in every word."""
    words: dict[int, list[Token]] = {}
    for token in tokens:
        if token.kind in {"cap", "inner", "low"} and len(token.fold) > 1:
            words.setdefault(token.sentence, []).append(token)
    small = not any(token.kind == "cap" for token in tokens)
    found = set()
    for sentence, own in words.items():
        loud = sum(token.capitals or token.text.isupper() for token in own)
        every = sum(token.kind == "cap" for token in own)
        capitals = loud >= 2 and loud >= 0.8 * len(own)
        titled = len(own) >= 6 and every >= 0.85 * len(own) and _has_verb(own)
        if capitals or titled or small:
            found.add(sentence)
    return found


def _has_verb(words: list[Token]) -> bool:
    """Return whether a capitalised verb shows that every word has a capital."""
    verbs = lexicon().words["loud"]
    return any(t.kind == "cap" and not t.first and t.fold in verbs for t in words)


def caseless_candidates(
    tokens: list[Token], sentences: set[int], language: dict[int, str], *, generous: bool
) -> list[NameCandidate]:
    """Return the candidates of sentences where capitals say nothing."""
    items: list[NameCandidate] = []
    at = 0
    while at < len(tokens):
        if tokens[at].sentence not in sentences or tokens[at].kind in {"mark", "num"}:
            at += 1
            continue
        end = _extent(tokens, at)
        if end > at:
            spoken = language[tokens[at].sentence]
            items.append(_caseless_candidate(tokens, at, end, spoken, generous))
        at = max(end, at + 1)
    return items


def _extent(tokens: list[Token], at: int) -> int:
    """Return where the name that starts at a token ends; ``at`` itself where none does."""
    lists = lexicon()
    if not _is_free(tokens[at]) and not lists.is_given(tokens[at].fold):
        return at
    if tokens[at].fold in lists.words["function"] or tokens[at].fold in lists.words["verb"]:
        return at
    if not lists.is_given(tokens[at].fold) and _opens(tokens, at + 1):
        return at  # a word before a full name: "Weds Cameraman Danny Moder"
    end, surnames = at, 0
    while end < len(tokens) and (end == at or (tokens[end].joined and not tokens[end].first)):
        token = tokens[end]
        if token.kind in {"mark", "num"}:
            break
        is_given = lists.is_given(token.fold) and token.fold not in lists.words["verb"]
        known_surname = token.fold in lists.surnames and end > at and surnames == 0
        if token.fold in _JOINING and end > at and _continues(tokens, end):
            end += 1
            continue
        initial = token.initial and token.fold not in lists.words["function"]
        if not (is_given or known_surname or initial or SUFFIX.fullmatch(token.text)):
            if not _is_free(token) or surnames == 2:
                break
            surnames += 1
        elif known_surname and not is_given:
            surnames += 1
        end += 1
        if token.owned:
            break
    while end > at and tokens[end - 1].fold in PARTICLES:
        end -= 1
    return end


def _opens(tokens: list[Token], at: int) -> bool:
    """Return whether a sure given name and one more word that may be a name stand at a token."""
    lists = lexicon()
    if at + 1 >= len(tokens) or not tokens[at].joined or not tokens[at + 1].joined:
        return False
    given = tokens[at].fold
    sure = lists.is_given(given) and not (given in lists.doubtful or given in lists.words["verb"])
    return sure and tokens[at + 1].kind == tokens[at].kind and _is_free(tokens[at + 1])


def _continues(tokens: list[Token], at: int) -> bool:
    for token in tokens[at + 1 : at + 3]:
        if token.fold not in PARTICLES:
            return token.joined and token.kind not in {"mark", "num"} and _is_free(token)
    return False


def _is_free(token: Token) -> bool:
    """Return whether a word is on none of the lists of words that are nobody."""
    lists, word = lexicon(), token.fold
    return not (
        lists.is_nobody(word)
        or word in lists.titles["leading"]
        or word in lists.words["function"]
        or word in lists.words["verb"]
        or word in lists.words["noun"]
    )


def _caseless_candidate(
    tokens: list[Token], at: int, end: int, language: str, generous: bool
) -> NameCandidate:
    lists = lexicon()
    own = tokens[at:end]
    labels = []
    for place, token in enumerate(own):
        if token.fold in PARTICLES and 0 < place < len(own) - 1:
            labels.append("particle")
        elif token.initial:
            labels.append("initial")
        elif place and SUFFIX.fullmatch(token.text):
            labels.append("suffix")
        else:
            labels.append("given" if lists.is_given(token.fold) else "unknown")
    item = NameCandidate(own, labels, at, end - 1, language)
    before = tokens[at - 1] if at and tokens[at - 1].sentence == own[0].sentence else None
    after = tokens[end] if end < len(tokens) and tokens[end].sentence == own[0].sentence else None
    titled = before is not None and before.fold in lists.titles["any"]
    led = labels[0] == "given" and own[0].fold not in lists.doubtful
    places = (lists.words["locative"], lists.words["article"])
    placed = before is not None and any(before.fold in words for words in places)
    followed = after is None or after.fold in lists.words["verb"] or after.kind == "mark"
    if titled and before is not None:
        item.title = "kin" if before.fold in lists.titles["kin"] else "office"
    if not item.words:
        item.verdict = "no"
    elif led or (titled and len(item.words) <= 3):
        item.verdict = "yes"
    elif len(item.words) in {2, 3} and not placed and followed:
        item.verdict = "weak"
    else:
        item.verdict = "weak" if generous and len(item.words) > 1 and not placed else "maybe"
    return item
