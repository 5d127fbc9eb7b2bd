"""People named in a text, by rules: no model, any language with capitals."""

from __future__ import annotations

import re

from candidly.photos.names import headlines
from candidly.photos.names.labels import noun_like
from candidly.photos.names.lexicon import lexicon
from candidly.photos.names.masks import find_masks
from candidly.photos.names.runs import Item, cut, find_runs
from candidly.photos.names.tokens import Token, languages, tokenize
from candidly.photos.records import Mention

_JOIN = re.compile(r"\s*(?:,|;|/|&|\+)?\s*(?:and|und|y|e|et|u\.|or|&|\+|with|mit|con|avec|sowie|i)?\s*")
_AND = re.compile(r"\s*(?:and|und|y|e|et|i|&|\+)\s*")
_COMMA = re.compile(r"\s*,\s*")
_CUED = re.compile(
    r"\s*(?:,\s*)?\((?:\d?\w{0,3}[- ]?)?(?:[LRC]|left|right|cent(?:er|re)|links|rechts|mitte|l\.|r\.|li\.|re\."
    r"|izq\w*\.?|der\w*\.?|i|d|g|à g\.?|à dr?\.?|gauche|droite|à gauche|à droite|izda\.?|dcha\.?)\)"
    r"|,\s(?:at |far )?(?:left|right|cent(?:er|re)),",
    re.IGNORECASE,
)
# Words after which a lone unknown word is somebody.
_COMPANY = frozenset(
    "with by against beside alongside including featuring facing shows show meets meet beats beat defeats greets hugs"
    " kisses congratulates embraces joined helps con avec mit contra contre junto zeigt muestra montre named called"
    " says said told".split()
)
_OF = frozenset("of von de del du d' des di da der".split())
_SHOWN = re.compile(
    r"\b(?:pictures?|photos?|photographs?|handouts?|images?|portraits?|shots?|bild|foto|portr[aä]t|retrato|imagen|fotograf\w+"
    r"|wedding|birthday|trial|death|arrest|funeral|victory|boda|cumplea\w+|bautizo|bapt[eê]me|mariage|hochzeit|taufe"
    r"|geburtstag|supporters|son|daughter|wife|widow|mother|father|brother|sister|fans?|friends?|relatives|hij[oa]"
    r"|fille|fils|witwe|sohn|tochter)\b",
    re.IGNORECASE,
)
_BORN = frozenset("geb geborene nee née born geboren nacida".split())
_NAMED = frozenset("is named called namens heisst ist est es llamado appele".split())


class Text:
    """A text read once: its tokens, its sentences' languages, and what may be names in it."""

    def __init__(self, text: str, *, generous: bool = False) -> None:
        self.text = text
        self.generous = generous
        self.masks = find_masks(text)
        self.tokens = tokenize(text, self.masks)
        self.languages = languages(self.tokens)
        self.items: list[Item] = []
        shouted = headlines.shouted(self.tokens, generous=generous)
        for first, end in find_runs(self.tokens):
            sentence = self.tokens[first].sentence
            if sentence not in shouted:
                self.items += cut(self.tokens, first, end, self.languages[sentence])
        for item in self.items:
            item.verdict = self._verdict(item)
        self.items += headlines.anchored(self.tokens, shouted, self.languages, generous=generous)
        self.items.sort(key=lambda item: item.start)

    def before(self, item: Item, back: int = 1) -> Token | None:
        """The token before an item, where it stands in the same sentence."""
        at = item.first - back
        if at < 0 or self.tokens[at].sentence != item.sentence:
            return None
        return self.tokens[at]

    def after(self, item: Item) -> Token | None:
        """The token after an item, where it stands in the same sentence."""
        at = item.last + 1
        if at >= len(self.tokens) or self.tokens[at].sentence != item.sentence:
            return None
        return self.tokens[at]

    def _verdict(self, item: Item) -> str:
        if self._is_body(item) or not item.words:
            return "no"
        self._take_small_title(item)
        return self._of_many(item) if len(item.words) > 1 else self._of_one(item)

    def _is_body(self, item: Item) -> bool:
        """Whether it is part of a street's, a team's or a family's name, or a pet."""
        lists = lexicon()
        before, after = self.before(item), self.after(item)
        named = item.given and len(item.words) > 1
        if item.right == "body" and not item.tokens[-1].owned:
            return True
        if item.left == "body" and not (named and item.language == "en"):
            return True
        if item.left == "preposition" and item.first > 0:
            left = self.before(item, 2)
            if left is not None and left.fold in lists.bodies and not named:
                return True
        if item.words and item.words[0].fold in {"san", "santa", "saint", "sao", "santo", "sankt", "mount", "fort"}:
            return not item.title
        if before is not None and before.kind != "mark":
            if before.fold in lists.words["pet"] or before.fold in _BORN:
                return True
            if before.fold in {"family", "familia", "famille", "familie"}:
                return True
            if before.fold in lists.bodies and item.language in {"es", "fr"} and before.joined:
                return True
        if before is not None and before.fold in _NAMED and (pet := self.before(item, 2)):
            if pet.fold in lists.words["pet"]:
                return True
        if after is not None and after.joined and after.fold in {"family", "families", "brothers", "sisters"}:
            return not named
        return False

    def _take_small_title(self, item: Item) -> None:
        """A title or a relation written small: "la abuela Pilar", "president Bush"."""
        before = self.before(item)
        if item.title or before is None or before.kind != "low" or not item.tokens[0].joined:
            return
        titles = lexicon().titles
        if before.fold in titles["kin"]:
            item.title = "kin"
        elif before.fold in titles["any"]:
            item.title = "small"

    def _stands_at(self, item: Item) -> str:
        """What the words before say: "place", "the", "role" (president of), or nothing."""
        lists = lexicon()
        before = self.before(item)
        if before is None or before.kind == "mark" or item.left in {"title", "nation"}:
            return ""
        if before.fold in lists.words["locative"] and before.kind == "low":
            looked = self.before(item, 2)
            gazes = {"looks", "smiles", "waves", "stares", "looking", "smiling", "waving", "points", "yells", "pointing"}
            return "" if looked is not None and looked.fold in gazes else "place"
        if before.fold in lists.words["article"] and before.fold not in {"la", "le"}:
            return "the"
        if before.fold in _OF:
            owner = self.before(item, 2)
            start = self.tokens[item.first].start
            if owner is not None and owner.fold in lists.words["role"] | lists.bodies:
                return "role"
            return "" if _SHOWN.search(self.text, max(0, start - 80), start) else "of"
        return ""

    def _of_many(self, item: Item) -> str:
        where = self._stands_at(item)
        cued = _CUED.match(self.text, item.end) is not None
        if item.title in {"plain", "royal", "kin", "office"} or cued:
            return "yes"
        doubtful = lexicon().doubtful
        known = [w for w, k in zip(item.tokens, item.labels, strict=True) if k == "given"]
        if known and item.labels[0] in {"given", "initial"} and known[0].fold not in doubtful:
            return "yes"
        if where in {"place", "the", "role"}:
            return "weak" if item.given and where != "place" else "no"
        if item.language == "de" and any(noun_like(w.fold, "de") for w in item.words[:1]):
            return "no"
        if known or item.solid or item.title:
            return "yes"
        if where == "of":
            return "weak" if self.generous or item.language == "en" else "no"
        if item.tokens[0].first and noun_like(item.words[0].fold, item.language):
            return "maybe"
        return "weak"

    def _of_one(self, item: Item) -> str:
        word = item.words[0]
        where = self._stands_at(item)
        lists = lexicon()
        if "initial" in item.labels and where != "place":
            return "yes"
        if item.title in {"plain", "royal", "kin"}:
            return "yes"
        if item.title and not (item.language == "de" and item.title == "small"):
            return "yes" if where != "place" else "maybe"
        if where in {"the", "role"}:
            return "no"
        if _CUED.match(self.text, item.end):
            return "yes"
        sure = item.labels[0] == "given" and word.fold not in lists.doubtful | lists.places
        if sure and item.left not in {"place", "nation"}:
            return "yes" if where != "place" or word.fold not in lists.places else "no"
        if where or item.left in {"nation", "place", "team"} or item.right:
            return "no" if not self.generous or where == "place" else "maybe"
        acronym = word.capitals and len(word.text) <= 5
        if acronym or ("-" in word.fold and item.language == "de"):
            return "no"
        return self._of_unknown(item, word)

    def _of_unknown(self, item: Item, word: Token) -> str:
        """One word that no list knows: its place in the sentence has to say that it is somebody."""
        lists = lexicon()
        if noun_like(word.fold, item.language) and not self.generous:
            return "no"
        before, after = self.before(item), self.after(item)
        if before is not None and before.fold in _COMPANY | _OF and before.kind == "low":
            return "maybe" if item.language == "de" else "weak"
        opens = word.first and item.language != "de" and not noun_like(word.fold, item.language)
        if opens and len(word.text) > 2 and (after is None or after.fold in lists.words["verb"] or after.text == "."):
            return "weak"
        return "maybe"


def read(text: str, *, generous: bool = False) -> list[Item]:
    """Return the people named in a text, in order; ``generous`` takes what is less sure, too."""
    read_text = Text(text, generous=generous)
    items = read_text.items
    _listed(read_text)
    _repeated(items)
    if generous:
        for item in items:
            if item.verdict == "maybe" and not _everyday(item):
                item.verdict = "weak"
    found = [item for item in items if item.verdict in {"yes", "weak"}]
    _share_surnames(found, text)
    _complete(found)
    return found


def _everyday(item: Item) -> bool:
    """Whether a lone word opens a sentence, or is a German noun: too common even to be generous."""
    word = item.words[0]
    if len(item.words) > 1:
        return False
    return item.language == "de" or (word.first and noun_like(word.fold, item.language)) or len(word.text) < 3


def _listed(text: Text) -> None:
    """Take a doubtful name where it is listed beside a sure one: "Tony Blair and Zico"."""
    pending = [item for item in text.items if item.verdict != "no"]
    for order in (pending, pending[::-1]):
        for left, right in zip(order, order[1:], strict=False):
            low, high = sorted((left, right), key=lambda item: item.start)
            if left.verdict in {"yes", "weak"} and right.verdict == "maybe":
                gap = text.text[low.end : _outer(text, high)]
                if low.sentence == high.sentence and _JOIN.fullmatch(gap):
                    right.verdict = "weak"


def _outer(text: Text, item: Item) -> int:
    """Where an item starts with the titles before it."""
    at = item.first
    titles = lexicon().titles
    while at > 0 and text.tokens[at].joined and text.tokens[at - 1].fold in titles["any"] | titles["before"]:
        at -= 1
    return min(text.tokens[at].start, item.start)


def _repeated(items: list[Item]) -> None:
    """Take a lone word that is part of a full name in the same text: "Annan" beside "Kofi Annan"."""
    parts = {
        word.fold
        for item in items
        if item.verdict in {"yes", "weak"} and len(item.words) > 1
        for word in (item.words[0], item.words[-1])
    }
    for item in items:
        if item.verdict == "maybe" and len(item.words) == 1 and item.words[0].fold in parts:
            item.verdict = "weak"


def _share_surnames(found: list[Item], text: str) -> None:
    """Give "Bill" of "Bill and Hillary Clinton" the surname; "A, B and C D" too."""
    for at in range(len(found) - 1, 0, -1):
        last = found[at]
        if len(last.words) < 2 or last.title in {"royal", "plain"}:
            continue
        if not _AND.fullmatch(text[found[at - 1].end : last.start]):
            continue
        back = at - 1
        while back >= 0 and _lone_given(found[back]):
            if back < at - 1 and not _COMMA.fullmatch(text[found[back].end : found[back + 1].start]):
                break
            found[back].surname = surname(last)
            back -= 1


def _lone_given(item: Item) -> bool:
    """Whether an item is one given name, without a title and without a surname yet."""
    alone = len(item.words) == 1 and item.labels[0] == "given" and not item.surname
    return alone and not item.title and not item.tokens[-1].owned


def surname(item: Item) -> str:
    """What a name has after its given names and initials: "de Villepin", "Clinton"."""
    tokens, labels = item.tokens, item.labels
    at = next(
        (i for i in range(1, len(tokens)) if labels[i] not in {"given", "initial", "nickname"}),
        len(tokens) - 1,
    )
    kept = [t for t, kind in zip(tokens[at:], labels[at:], strict=True) if kind not in {"suffix", "nickname"}]
    rest = Item(kept or [tokens[-1]], ["unknown"] * max(1, len(kept)), 0, 0, item.language)
    return rest.name()


def _complete(found: list[Item]) -> None:
    """Give a lone surname or given name the full name that the same text has, where it is one."""
    fulls: dict[str, set[str]] = {}
    for item in found:
        if len(item.words) > 1 or item.surname:
            name = item.name()
            keys = {item.words[0].fold, item.words[-1].fold}
            if item.surname:
                keys = {item.words[0].fold}
            for key in keys:
                fulls.setdefault(key, set()).add(name)
    for item in found:
        if len(item.words) == 1 and not item.surname and not item.kept_title:
            names = fulls.get(item.words[0].fold, set())
            if len(names) == 1 and item.title != "kin":
                item.full = next(iter(names))


def clean(text: str, spans: list[tuple[int, int]], *, generous: bool) -> list[Mention]:
    """Return what somebody else found, without titles and possessives, outside credits.

    Unless ``generous``, only names of two words and more: a lone word is what finders get wrong.
    """
    masks, lists = find_masks(text), lexicon()
    mentions, at = [], 0
    for start, end in sorted(spans):
        while at < len(masks) and masks[at][1] <= start:
            at += 1
        if at < len(masks) and masks[at][0] < end:
            continue
        tokens = tokenize(text[start:end], [])
        while tokens and (tokens[0].kind == "mark" or _drops(tokens[0])):
            tokens = tokens[1:]
        while tokens and (tokens[-1].kind in {"mark", "num"} or tokens[-1].kind == "low"):
            tokens = tokens[:-1]
        words = [token for token in tokens if token.kind in {"cap", "inner"}]
        if not words or len(words) > 6 or any(token.kind in {"mark", "num"} for token in tokens):
            continue
        if all(lists.is_nobody(token.fold) or token.fold in lists.words["function"] for token in words):
            continue
        if words[-1].fold in lists.bodies - lists.surnames or any("\n" in t.text for t in tokens):
            continue
        if len(words) < (1 if generous else 2):
            continue
        item = Item(tokens, ["unknown"] * len(tokens), 0, 0, "en")
        mentions.append(Mention(item.name(), start + tokens[0].start, start + tokens[-1].end))
    return mentions


def _drops(token: Token) -> bool:
    lists = lexicon()
    return token.fold in lists.titles["any"] or token.fold in lists.words["nation"] or token.kind == "low"
