"""The names of a whole collection: short forms resolved, likely spellings of one person proposed.

Proposals are never merged.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, inf, log

import numpy as np

from candidly.photos.names.lexicon import PARTICLES, lexicon
from candidly.photos.names.lists import Lists, key
from candidly.photos.names.mentions import beginning, place_mentions
from candidly.photos.records import LEAST, NAMED, Mention, Proposal

# Letters and groups that transcriptions from other alphabets write differently.
_SOUNDS = (
    (r"tsch|tch|tsh|cz|ch|sch|sh", "S"),
    (r"ph", "f"),
    (r"ck|kh|gh|qu|[cqk]", "k"),
    (r"dj|dzh|zh", "j"),
    (r"ts|tz|z", "s"),
    (r"th", "t"),
    (r"[wv]", "v"),
    (r"ou|oo|u|o", "o"),
    (r"ee|ie|ei|ey|iy|[yji]", "i"),
    (r"h", ""),
)
SURE = 0.9  # from here on a name counts as read for sure
USUAL = 0.8  # about the share of possible names that are names, in captions that name people
FEW = 50  # mentions of a usual collection that a small one is taken together with
ROUNDS = 20
OWNERS = 4  # most people between whom faces decide who a surname alone is
MOST = 50  # largest number of names that share a clue; a more frequent clue is not used


@dataclass(frozen=True)
class People:
    """People named in a collection of captions.

    Parameters
    ----------
    mentions : list of list of Mention
        Mentions of each caption, with each name in the form that the collection resolves it to.
    proposals : list of Proposal
        Pairs of names that are likely one person's; they are not merged.
    """

    mentions: list[list[Mention]]
    proposals: list[Proposal]


def resolve(
    captions: Sequence[tuple[str, Sequence[Mention]]], *, lists: Lists | None = None
) -> People:
    """Return the people of captions, with short forms resolved and the user's lists applied.

    "Mr. Blair" or "Blair" becomes "Tony Blair" where the collection has one Blair; where it has
    several, each is a doubtful mention beside "Blair", so that faces can decide. Names that differ
    in case, dots or diacritics only take the most frequent form. Others are proposed.

    Parameters
    ----------
    captions : sequence of (text, mentions)
        Each caption and what ``find_mentions`` found in it.
    lists : Lists, optional
        The user's aliases, allow list and never-name list.

    Examples
    --------
    >>> from candidly.photos.names import find_mentions
    >>> texts = ["Tony Blair.", "Tony Blair in Rome.", "Mr. Blair arrives.", "Toni Blair"]
    >>> people = resolve([(text, find_mentions(text)) for text in texts])
    >>> [[mention.name for mention in found] for found in people.mentions]
    [['Tony Blair'], ['Tony Blair'], ['Tony Blair'], ['Toni Blair']]
    >>> [(p.name, p.likely) for p in people.proposals]
    [('Toni Blair', 'Tony Blair')]
    """
    lists = lists or Lists()
    captions = [(beginning(text), mentions) for text, mentions in captions]
    found = [_with_allowed(text, mentions, lists) for text, mentions in captions]
    found = _unshare(captions, found)
    found = _with_known(captions, found)
    found = _with_slips(captions, found)
    found = _by_others(_as_in_this_collection(found))
    found = [
        place_mentions(text, now) if _sure_spans(now) != _sure_spans(before) else now
        for (text, before), now in zip(captions, found, strict=True)
    ]
    # Before short forms: two names of one man are no reason to leave "Blair" open.
    found = [[replace(m, name=lists.canonical(m.name)) for m in mentions] for mentions in found]
    found = _resolve_short(captions, found)
    found = _one_form(found)
    named_in = [{m.name for m in mentions if m.probability >= NAMED} for mentions in found]
    counts = Counter(name for names in named_in for name in names)
    together = {frozenset(pair) for names in named_in for pair in _pairs(names)}
    named = [[m for m in mentions if lists.permits(m.name)] for mentions in found]
    kept = {name: count for name, count in counts.items() if lists.permits(name)}
    proposals = [
        proposal
        for proposal in propose(kept)
        if frozenset((proposal.name, proposal.likely)) not in together
    ]
    return People(named, proposals)


def _sure_spans(mentions: Sequence[Mention]) -> list[tuple[int, int]]:
    return [(m.start, m.end) for m in mentions if m.probability >= NAMED]


def _as_in_this_collection(found: list[list[Mention]]) -> list[list[Mention]]:
    """Return the mentions with probabilities for a collection that names more people than most.

    The model was fitted on texts where ``USUAL`` of the possible names are names. Where captions
    nearly always name people, a doubtful one is more likely a name, too: with r the ratio of the
    odds here to the usual ones, p becomes p r / (p r + 1 - p), and the share of names here is the
    mean of these (Saerens, Latinne and Decaestecker 2002, by iteration).
    """
    shares = np.array([m.probability for mentions in found for m in mentions])
    if not len(shares):
        return found
    ratio = 1.0
    for _ in range(ROUNDS):
        here = shares * ratio / (shares * ratio + 1 - shares)
        mean = (here.sum() + FEW * USUAL) / (len(here) + FEW)
        ratio = max(1.0, float(mean / (1 - mean) / (USUAL / (1 - USUAL))))

    def mend(mention: Mention) -> Mention:
        p = mention.probability
        return replace(mention, probability=round(p * ratio / (p * ratio + 1 - p), 4))

    return [[mend(mention) for mention in mentions] for mentions in found]


def _by_others(found: list[list[Mention]]) -> list[list[Mention]]:
    """Return the mentions, likelier where other captions have the same name for sure.

    The mean log odds of the others are added, less where they are few, and half for a lone word.
    Nothing becomes less likely: a caption that was read right alone stays so.
    """
    odds: dict[str, list[float]] = defaultdict(list)
    best = [_best_odds(mentions) for mentions in found]
    for own in best:
        for name, value in own.items():
            odds[name].append(value)
    total = {name: sum(values) for name, values in odds.items()}

    def mend(mention: Mention, own: Mapping[str, float]) -> Mention:
        name = key(mention.name)
        others = len(odds[name]) - 1
        if not others or mention.probability >= SURE:
            return mention
        mean = (total[name] - own[name]) / others
        if mean <= 0:
            return mention
        more = mean * others / (others + 1) * (1.0 if " " in name else 0.5)
        share = 1 / (1 + exp(-_log_odds(mention.probability) - more))
        return replace(mention, probability=round(share, 4))

    return [
        [mend(mention, own) for mention in mentions]
        for mentions, own in zip(found, best, strict=True)
    ]


def _best_odds(mentions: Sequence[Mention]) -> dict[str, float]:
    """Return the largest log odds of each name of a caption."""
    odds: dict[str, float] = {}
    for mention in mentions:
        name = key(mention.name)
        odds[name] = max(_log_odds(mention.probability), odds.get(name, -inf))
    return odds


def _log_odds(probability: float) -> float:
    bounded = min(max(probability, 1 - SURE), SURE)
    return log(bounded / (1 - bounded))


def _with_known(
    captions: Sequence[tuple[str, Sequence[Mention]]], found: list[list[Mention]]
) -> list[list[Mention]]:
    """Return the mentions, with full names that other captions have for sure and this one cuts.

    Where a text has all words of such a name, and nobody sure there, it is named with ``LEAST``:
    other captions then speak for it.
    """
    names = {
        tuple(key(m.name).split())
        for mentions in found
        for m in mentions
        if " " in m.name and m.probability >= SURE
    }
    known: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for words in sorted(names, key=len, reverse=True):
        known[words[0]].append(words)
    return [
        _add_known(text, mentions, names, known)
        for (text, _), mentions in zip(captions, found, strict=True)
    ]


def _add_known(
    text: str,
    mentions: list[Mention],
    names: Collection[tuple[str, ...]],
    known: Mapping[str, list[tuple[str, ...]]],
) -> list[Mention]:
    words = list(re.finditer(r"[^\W\d_]+(?:['’.-]+[^\W\d_]+)*", text))
    folded = [key(word.group()) for word in words]
    for at, word in enumerate(folded):
        for name in known.get(word, ()):
            if tuple(folded[at : at + len(name)]) != name:
                continue
            start, end = words[at].start(), words[at + len(name) - 1].end()
            if not _only_blanks(text[start:end]):
                continue
            over = [m for m in mentions if m.start < end and start < m.end]
            # What is cut in another way is not sure, and nobody's name elsewhere.
            known_too = any(tuple(key(m.name).split()) in names for m in over)
            if not known_too and all(m.probability < SURE for m in over):
                share = max((m.probability for m in over), default=LEAST)
                added = Mention(" ".join(text[start:end].split()), start, end, probability=share)
                mentions = [m for m in mentions if m not in over] + [added]
    return sorted(mentions, key=lambda mention: mention.start)


def _pairs(names: set[str]) -> Iterator[tuple[str, str]]:
    # A caption of thousands of names says little about who is not whom.
    ordered = sorted(names)[:100]
    for at, name in enumerate(ordered):
        for other in ordered[at + 1 :]:
            yield name, other


def _with_allowed(text: str, mentions: Sequence[Mention], lists: Lists) -> list[Mention]:
    """Return the mentions, with those of the allow list that were missed."""
    found = list(mentions)
    if not lists.allow:
        return found
    taken = [(m.start, m.end) for m in found]
    for match in _allowed(lists.allow).finditer(text):
        if not any(start < match.end() and match.start() < end for start, end in taken):
            name = " ".join(match.group().split())
            found.append(Mention(name.title() if name.islower() else name, *match.span()))
    return sorted(found, key=lambda mention: mention.start)


def _with_slips(
    captions: Sequence[tuple[str, Sequence[Mention]]], found: list[list[Mention]]
) -> list[list[Mention]]:
    """Return the mentions, with full names of the collection that have a blank out of place here.

    "TommyF ranks" becomes a separate mention, as it is spelled: it is proposed, not corrected.
    """
    named = [{key(m.name) for m in mentions if m.probability >= NAMED} for mentions in found]
    counts = Counter(name for names in named for name in names)
    full = [m for mentions in found for m in mentions if " " in m.name and m.probability >= NAMED]
    known = {squeezed(m.name): m for m in sorted(full, key=lambda m: m.probability)}
    result = []
    for (text, _), mentions in zip(captions, found, strict=True):
        slips = [
            slip
            for slip in _slips(text, known, {(m.start, squeezed(m.name)) for m in mentions})
            # The slip may be in the other caption.
            if all(
                counts[key(m.name)] < counts[key(known[squeezed(slip.name)].name)]
                for m in mentions
                if slip.start < m.end and m.start < slip.end
            )
        ]
        kept = [m for m in mentions if not any(s.start < m.end and m.start < s.end for s in slips)]
        result.append(sorted([*kept, *slips], key=lambda mention: mention.start))
    return result


def _slips(
    text: str, known: Mapping[str, Mention], taken: set[tuple[int, str]]
) -> Iterator[Mention]:
    words = list(re.finditer(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", text))
    done = 0
    for at, word in enumerate(words):
        if word.start() < done or not word.group()[:1].isupper():
            continue
        joined = squeezed(word.group())
        for last in words[at + 1 : at + 6]:
            if text[words[at].start() : last.start()].count("\n") or len(joined) > 60:
                break
            joined += squeezed(last.group())
            span = (word.start(), last.end())
            if joined in known:
                own = text[span[0] : span[1]]
                same = known[joined]
                slip = key(own) != key(same.name) and (span[0], joined) not in taken
                if slip and _only_blanks(own):
                    done = span[1]
                    yield Mention(" ".join(own.split()), *span, probability=same.probability)
                break


def _only_blanks(text: str) -> bool:
    return re.fullmatch(r"(?:[^\W\d_]|['’. -])+", text) is not None


@lru_cache(maxsize=1)
def _allowed(allow: frozenset[str]) -> re.Pattern[str]:
    """Return a pattern of the allowed names as written without diacritics."""
    names = sorted(
        (re.escape(name).replace(r"\ ", r"\s+") for name in allow), key=len, reverse=True
    )
    return re.compile(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)", re.IGNORECASE)


def _unshare(
    captions: Sequence[tuple[str, Sequence[Mention]]], found: list[list[Mention]]
) -> list[list[Mention]]:
    """Return the mentions without shared surnames that nobody has elsewhere.

    In "Abdullah and Tony Blair" there is no Abdullah Blair.
    """
    literal: set[str] = set()
    alone: set[str] = set()
    for (text, _), mentions in zip(captions, found, strict=True):
        for mention in mentions:
            own = key(text[mention.start : mention.end])
            if own == key(mention.name) and mention.probability >= NAMED:
                (literal if " " in own else alone).add(own)

    def mend(text: str, mention: Mention) -> Mention:
        own = text[mention.start : mention.end]
        shared = " " not in own and key(mention.name).startswith(key(own) + " ")
        if shared and key(mention.name) not in literal and key(own) in alone:
            return replace(mention, name=own)
        return mention

    return [
        [mend(text, mention) for mention in mentions]
        for (text, _), mentions in zip(captions, found, strict=True)
    ]


def surname_keys(name: str) -> set[str]:
    """Return the short forms that a full name may have.

    Examples
    --------
    >>> sorted(surname_keys("Dominique de Villepin"))
    ['de villepin', 'villepin']
    >>> sorted(surname_keys("Gabriel García Márquez"))
    ['garcia marquez', 'marquez']
    >>> sorted(surname_keys("Roh Moo-hyun"))
    ['moo-hyun', 'roh']
    """
    words = key(name).split()
    suffixes = {"jr", "sr", "ii", "iii", "iv"}
    while len(words) > 1 and words[-1] in suffixes:
        words.pop()
    if len(words) < 2 or words[0] in lexicon().titles["royal"]:
        return set()
    keys = {" ".join(words[at:]) for at in range(1, len(words))}
    keys = {short for short in keys if short.split()[-1] not in PARTICLES}
    keys |= {words[-1].removeprefix("al-")}
    if re.search(r" [A-Z][a-z]+-[a-z]+$", name):
        keys.add(words[0])  # Korean names have the surname first
    return keys


def _resolve_short(
    captions: Sequence[tuple[str, Sequence[Mention]]], found: list[list[Mention]]
) -> list[list[Mention]]:
    bare: Counter[str] = Counter()
    full: Counter[str] = Counter()
    owners: dict[str, set[str]] = defaultdict(set)
    for (text, _), mentions in zip(captions, found, strict=True):
        named = [mention for mention in mentions if mention.probability >= NAMED]
        for name in {mention.name for mention in named if " " in mention.name}:
            full[key(name)] += 1
            for short in surname_keys(name):
                owners[short].add(key(name))
        titled = {key(m.name) for m in mentions if _titled(text, m)}
        bare.update({key(m.name) for m in named} - titled)
    spelled = {key(m.name): m.name for mentions in found for m in mentions}

    def mend(text: str, mention: Mention) -> list[Mention]:
        short = key(mention.name)
        if _titled(text, mention, "kin"):
            return [mention]  # Grandma Dee is no Sandra Dee
        names = sorted(owners.get(short, set()) - {short}, key=lambda name: (-full[name], name))
        if not names or (short in full and " " in short):
            return [mention]
        name, others = names[0], names[1:]
        # Rare misspellings of one name do not make two of it.
        several = not all(full[o] * 2 <= full[name] and alike(o, name) for o in others)
        # A lone Thibault is a boy before he is Bernard Thibault, unless he has a title.
        lone = lexicon().given - lexicon().doubtful
        if short in lone and bare[short]:
            return [mention]
        # "Bono" alone is more frequent than "Mary Bono": it is a full name.
        if " " not in short and bare[short] > full[name]:
            return [mention]
        if not several:
            return [replace(mention, name=spelled[name])]
        # No text says which of them it is, so none is a candidate unless faces confirm it.
        each = min(mention.probability / len(names), NAMED - 0.01)
        if each < LEAST or len(names) > OWNERS:
            return [mention]
        either = [replace(mention, name=spelled[n], probability=round(each, 4)) for n in names]
        return [mention, *either]

    return [
        [own for mention in mentions for own in mend(text, mention)]
        for (text, _), mentions in zip(captions, found, strict=True)
    ]


def _titled(text: str, mention: Mention, kind: str = "any") -> bool:
    before = re.search(r"([^\W\d_]+)\.?\s*$", text[max(0, mention.start - 30) : mention.start])
    return before is not None and key(before[1]) in lexicon().titles[kind]


def _one_form(found: list[list[Mention]]) -> list[list[Mention]]:
    """Return the mentions, names that differ in case, dots or diacritics in one form."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for mentions in found:
        for mention in mentions:
            forms[key(mention.name)][mention.name] += 1
    best = {
        short: max(counts, key=lambda name: (counts[name], not name.isascii(), name))
        for short, counts in forms.items()
    }
    return [
        [replace(mention, name=best[key(mention.name)]) for mention in mentions]
        for mentions in found
    ]


def distance(left: str, right: str) -> int:
    """Return how many letters to change, add, drop or swap with their neighbour.

    Examples
    --------
    >>> distance("blix", "bilx"), distance("sarah", "sara"), distance("anna", "otto")
    (1, 1, 4)
    """
    if abs(len(left) - len(right)) > 2 and left and right:
        return abs(len(left) - len(right))
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        before, last, row = row, before, [i]
        for j, b in enumerate(right, start=1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                best = min(best, last[j - 2] + 1)
            row.append(best)
    return row[-1]


def squeezed(name: str) -> str:
    """Return the letters of a name without anything between them.

    Examples
    --------
    >>> squeezed("TommyF ranks") == squeezed("Tommy Franks")
    True
    """
    return re.sub(r"[\s\-'’]", "", key(name))


def sound(name: str) -> str:
    """Return how a name sounds, roughly, across transcriptions.

    Examples
    --------
    >>> sound("Mohammed Al-Douri") == sound("Mohamed al Duri")
    True
    """
    words = []
    for word in re.sub(r"[-'’]", " ", key(name)).split():
        if word in {"al", "el", "ul"}:
            continue
        for pattern, letter in _SOUNDS:
            word = re.sub(pattern, letter, word)
        word = re.sub(r"(\D)\1+", r"\1", word)
        words.append(word[:1] + re.sub(r"[aeio]", "", word[1:]))
    return " ".join(words)


def propose(counts: Mapping[str, int]) -> list[Proposal]:
    """Return pairs of names that are likely one person's, by text alone.

    Parameters
    ----------
    counts : mapping of str to int
        How many captions each name is in; the rarer of two is proposed as the other.
    """
    found: dict[frozenset[str], Proposal] = {}
    for why, names in _clues(counts):
        if not 1 < len(names) <= MOST:
            continue
        ordered = sorted(names, key=lambda name: (-counts[name], name))
        for at, likely in enumerate(ordered):
            for name in ordered[at + 1 :]:
                pair = frozenset((name, likely))
                if pair not in found and _fits(why, name, likely):
                    found[pair] = Proposal(name, likely, why)
    return sorted(found.values())


def _clues(counts: Mapping[str, int]) -> Iterator[tuple[str, set[str]]]:
    """Yield names that share all letters except one, a sound, or their first and last word."""
    letters: dict[tuple[str, str], set[str]] = defaultdict(set)
    sounds: dict[str, set[str]] = defaultdict(set)
    ends: dict[tuple[str, str], set[str]] = defaultdict(set)
    for name in counts:
        own = squeezed(name)
        if 5 <= len(own) <= 60:
            # "Guest 12" is no slip of "Guest 13".
            digits = "".join(filter(str.isdigit, own))
            letters[own, digits].add(name)
            for at in range(len(own)):
                letters[own[:at] + own[at + 1 :], digits].add(name)
        words = key(name).split()
        if len(words) > 1:
            sounds[sound(name)].add(name)
            ends[words[0], words[-1]].add(name)
    yield from (("letters", names) for names in letters.values())
    yield from (("sound", names) for names in sounds.values())
    yield from (("middle name", names) for names in ends.values())


def _fits(why: str, name: str, likely: str) -> bool:
    if why != "letters":
        return len(sound(name).replace(" ", "")) > 2
    return alike(name, likely)


def alike(name: str, other: str) -> bool:
    """Return whether two names differ by a slip: a letter, in a long name two.

    Examples
    --------
    >>> alike("Hans Bilx", "Hans Blix"), alike("TommyF ranks", "Tommy Franks"), alike("A", "Bo")
    (True, True, False)
    """
    left, right = (squeezed(name), squeezed(other))
    return distance(left, right) <= (len(left) > 4) + (min(len(left), len(right)) >= 16)
