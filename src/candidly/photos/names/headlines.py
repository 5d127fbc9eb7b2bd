"""Names where capitals say nothing: in a text of CAPITALS, or where Every Word Has One."""

from __future__ import annotations

from candidly.photos.names.labels import PARTICLES, SUFFIX
from candidly.photos.names.lexicon import lexicon
from candidly.photos.names.runs import Item
from candidly.photos.names.tokens import Token

_JOINING = PARTICLES - {"y", "e", "i"}


def shouted(tokens: list[Token], *, generous: bool = False) -> set[int]:
    """Return the sentences whose capitals say nothing."""
    words: dict[int, list[Token]] = {}
    for token in tokens:
        if token.kind in {"cap", "inner", "low"} and len(token.fold) > 1:
            words.setdefault(token.sentence, []).append(token)
    found = set()
    for sentence, own in words.items():
        loud = sum(token.capitals or token.text.isupper() for token in own)
        every = sum(token.kind == "cap" for token in own)
        if (
            (loud >= 2 and loud >= 0.8 * len(own))
            or (len(own) >= 6 and every >= 0.85 * len(own) and _has_verb(own))
            or (every == 0 and not any(t.kind == "cap" for t in tokens))
        ):
            found.add(sentence)
    return found


def _has_verb(words: list[Token]) -> bool:
    """Whether a capitalised verb or small word shows that every word has a capital."""
    lists = lexicon()
    verbs = lists.words["loud"]
    return any(t.kind == "cap" and not t.first and t.fold in verbs for t in words)


def anchored(
    tokens: list[Token], sentences: set[int], language: dict[int, str], *, generous: bool
) -> list[Item]:
    """Return names that start with a known given name or follow a title; no other word tells."""
    items: list[Item] = []
    at = 0
    while at < len(tokens):
        if tokens[at].sentence not in sentences or tokens[at].kind in {"mark", "num"}:
            at += 1
            continue
        end = _extent(tokens, at)
        if end > at:
            items.append(_item(tokens, at, end, language[tokens[at].sentence], generous))
        at = max(end, at + 1)
    return items


def _extent(tokens: list[Token], at: int) -> int:
    """Where the name that starts at a token ends; ``at`` itself where none does."""
    lists = lexicon()
    if not _free(tokens[at]) and not lists.is_given(tokens[at].fold):
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
            if not _free(token) or surnames == 2:
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
    """Whether a sure given name and one more word that may be a name stand at a token."""
    lists = lexicon()
    if at + 1 >= len(tokens) or not tokens[at].joined or not tokens[at + 1].joined:
        return False
    given = tokens[at].fold
    sure = lists.is_given(given) and not (given in lists.doubtful or given in lists.words["verb"])
    return sure and tokens[at + 1].kind == tokens[at].kind and _free(tokens[at + 1])


def _continues(tokens: list[Token], at: int) -> bool:
    for token in tokens[at + 1 : at + 3]:
        if token.fold not in PARTICLES:
            return token.joined and token.kind not in {"mark", "num"} and _free(token)
    return False


def _free(token: Token) -> bool:
    """Whether a word is on no list of words that are nobody."""
    lists, word = lexicon(), token.fold
    return not (
        lists.is_nobody(word)
        or word in lists.titles["any"]
        or word in lists.titles["before"]
        or word in lists.words["function"]
        or word in lists.words["verb"]
        or word in lists.words["noun"]
    )


def _item(tokens: list[Token], at: int, end: int, language: str, generous: bool) -> Item:
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
    item = Item(own, labels, at, end - 1, language)
    before = tokens[at - 1] if at and tokens[at - 1].sentence == own[0].sentence else None
    after = tokens[end] if end < len(tokens) and tokens[end].sentence == own[0].sentence else None
    titled = before is not None and before.fold in lists.titles["any"]
    led = labels[0] == "given" and own[0].fold not in lists.doubtful
    place = before is not None and (
        before.fold in lists.words["locative"] or before.fold in lists.words["article"]
    )
    followed = after is None or after.fold in lists.words["verb"] or after.kind == "mark"
    if titled and before is not None:
        item.title = "kin" if before.fold in lists.titles["kin"] else "office"
    if not item.words:
        item.verdict = "no"
    elif led or (titled and len(item.words) <= 3):
        item.verdict = "yes"
    elif len(item.words) in {2, 3} and not place and followed:
        item.verdict = "weak"
    else:
        item.verdict = "weak" if generous and len(item.words) > 1 and not place else "maybe"
    return item
