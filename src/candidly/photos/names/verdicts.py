"""Whether what may be a name is one: by what stands around it."""

from __future__ import annotations

import re

from candidly.photos.names import headlines
from candidly.photos.names.labels import noun_like
from candidly.photos.names.lexicon import lexicon
from candidly.photos.names.masks import find_masks
from candidly.photos.names.runs import Item, cut, find_runs
from candidly.photos.names.tokens import Token, languages, tokenize

_CUED = re.compile(
    r"\s*(?:,\s*)?\((?:\d?\w{0,3}[- ]?)?(?:[LRC]|left|right|cent(?:er|re)|links|rechts|mitte"
    r"|l\.|r\.|li\.|re\."
    r"|izq\w*\.?|der\w*\.?|i|d|g|à g\.?|à dr?\.?|gauche|droite|à gauche|à droite|izda\.?|dcha\.?)\)"
    r"|,\s(?:at |far )?(?:left|right|cent(?:er|re)),",
    re.IGNORECASE,
)
# Words after which a lone unknown word is somebody.
_COMPANY = frozenset(
    (
        "with by against beside alongside including featuring facing shows show meets meet"
        " beats beat defeats greets hugs kisses congratulates embraces joined helps con avec"
        " mit contra contre junto zeigt muestra montre named called says said told"
    ).split()
)
_OF = frozenset("of von de del du d' des di da der".split())
_SHOWN = re.compile(
    r"\b(?:pictures?|photos?|photographs?|handouts?|images?|portraits?|shots?|bild|foto"
    r"|portr[aä]t|retrato|imagen|fotograf\w+"
    r"|wedding|birthday|trial|death|arrest|funeral|victory|boda|cumplea\w+|bautizo|bapt[eê]me"
    r"|mariage|\w*hochzeit|\w*taufe"
    r"|\w*geburtstag|supporters|son|daughter|wife|widow|mother|father|brother|sister|fans?"
    r"|friends?|relatives|hij[oa]"
    r"|fille|fils|witwe|sohn|tochter)\b",
    re.IGNORECASE,
)
# What a saint's church, a storm or a ship is named with: "USS Harry S. Truman".
_OPENERS = frozenset(
    (
        "st saint ste sankt hurricane typhoon cyclone shuttle operation uss hms rms fort lake mount"
    ).split()
)
_PRIZES = frozenset({"oscar", "emmy", "tony", "cesar", "edgar", "hugo", "goya", "grammy"})
_HOLDERS = frozenset({"an", "a", "his", "her", "their", "its", "first", "second", "best"})
# Spanish says "a" before people, and before places only after verbs of going.
_MEETS = re.compile(
    r"(?:gan|venc|venz|derrot|salud|abraz|felicit|entrevist|bes|recib|elimin|acompan|despid|homenaj)"
)
_BORN = frozenset(["geb", "geborene", "nee", "née", "born", "geboren", "nacida"])
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
        if item.left == "body" and self.tokens[item.first - 1].fold in _OPENERS:
            return True
        if item.left == "preposition" and item.first > 0:
            left = self.before(item, 2)
            if left is not None and left.fold in lists.bodies and not named:
                return True
        if item.words and item.words[0].fold in {
            "san",
            "santa",
            "saint",
            "sao",
            "santo",
            "sankt",
            "mount",
            "fort",
        }:
            return not item.title
        if before is not None and before.kind != "mark":
            if before.fold in lists.words["pet"] or before.fold in _BORN:
                return True
            if before.fold in {"family", "familia", "famille", "familie"}:
                return True
            if before.fold in lists.bodies and item.language in {"es", "fr"} and before.joined:
                return True
        pets = [self.before(item, back) for back in (2, 3)]
        owned = any(pet is not None and pet.fold in lists.words["pet"] for pet in pets)
        if owned and before is not None and before.fold in _NAMED:
            return True
        if (
            after is not None
            and after.joined
            and after.fold in {"family", "families", "brothers", "sisters"}
        ):
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
        if before.kind == "low" and (before.fold in lists.words["locative"] or before.text == "à"):
            looked = self.before(item, 2)
            gazes = {
                "looks",
                "smiles",
                "waves",
                "stares",
                "looking",
                "smiling",
                "waving",
                "points",
                "yells",
                "pointing",
            }
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
        last = item.words[-1].fold
        if where in {"place", "the", "role"} and last in lexicon().bodies:
            return "no"
        if known and item.labels[0] in {"given", "initial"} and known[0].fold not in doubtful:
            return "yes"
        if where in {"place", "the", "role"}:
            sure = known and known[0].fold not in doubtful
            return "weak" if sure and where != "place" else "no"
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
        owner = self.before(item)
        if word.fold in _PRIZES and owner is not None and owner.fold in _HOLDERS:
            return "no"
        sure = item.labels[0] == "given" and word.fold not in lists.doubtful | lists.places
        if sure and item.left not in {"place", "nation"}:
            return "yes" if where != "place" or word.fold not in lists.places else "no"
        if where or item.left in {"nation", "place", "team"} or item.right:
            return "no" if not self.generous or where == "place" else "maybe"
        before = self.before(item)
        if before is not None and before.owned and before.fold in lists.places:
            return "weak"
        verb = self.before(item, 2)
        meets = verb is not None and _MEETS.match(verb.fold) is not None
        if meets and before is not None and before.text == "a" and item.language == "es":
            return "weak"
        acronym = word.capitals and len(word.text) <= 5
        if acronym or ("-" in word.fold and item.language == "de"):
            return "no"
        return self._of_unknown(item, word)

    def _acts(self, item: Item, after: Token) -> bool:
        """Whether the words after say that somebody does something: "Zico, seen here"."""
        verbs = lexicon().words["verb"]
        if after.text != "," or item.last + 2 >= len(self.tokens):
            return after.fold in verbs or after.text == "."
        follower = self.tokens[item.last + 2].fold
        return follower in verbs or follower in {
            "who",
            "whose",
            "wearing",
            "left",
            "right",
            "der",
            "quien",
            "qui",
        }

    def _of_unknown(self, item: Item, word: Token) -> str:
        """One word that no list knows: its place in the sentence has to say that it is somebody."""
        if noun_like(word.fold, item.language) and not self.generous:
            return "no"
        before, after = self.before(item), self.after(item)
        if before is not None and before.fold in _COMPANY | _OF and before.kind == "low":
            return "maybe" if item.language == "de" else "weak"
        opens = word.first and item.language != "de" and not noun_like(word.fold, item.language)
        if opens and len(word.text) > 2 and (after is None or self._acts(item, after)):
            return "weak"
        return "maybe"
