"""Whether what may be a name is one: by what stands around it."""

from __future__ import annotations

from candidly.photos.names import headlines
from candidly.photos.names.labels import noun_like
from candidly.photos.names.lexicon import lexicon
from candidly.photos.names.masks import find_masks
from candidly.photos.names.runs import Item, cut, find_runs
from candidly.photos.names.signs import (
    ANDS,
    BORN,
    CAMEL,
    COMPANY,
    CUED,
    DATED,
    DUTCH,
    GAZES,
    HOLDERS,
    MEETS,
    NAMED,
    OF,
    OPENERS,
    OURS,
    OWN,
    PRIZES,
    SAINTS,
    SHOWN,
    WON,
)
from candidly.photos.names.tokens import Token, german_genitives, languages, tokenize


class Text:
    """A text read once: its tokens, its sentences' languages, and what may be names in it."""

    def __init__(self, text: str, *, generous: bool = False) -> None:
        self.text = text
        self.generous = generous
        self.masks = find_masks(text)
        self.tokens = tokenize(text, self.masks)
        self.languages = languages(self.tokens)
        self.dutch = not DUTCH.isdisjoint(token.fold for token in self.tokens)
        german_genitives(self.tokens, self.languages)
        self.items: list[Item] = []
        shouted = headlines.shouted(self.tokens, generous=generous)
        for first, end in find_runs(self.tokens):
            sentence = self.tokens[first].sentence
            if sentence not in shouted:
                self.items += cut(self.tokens, first, end, self.languages[sentence])
        self.judged: list[Item] = []
        for item in self.items:
            item.verdict = self._verdict(item)
            self.judged.append(item)
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
        if item.left in {"body", "common"} and self._is_office(item):
            item.title = "office"
            return False
        if item.left == "body" and not (named and item.language == "en"):
            return True
        if len(item.words) == 1 and CAMEL.fullmatch(item.words[0].text) and not item.given:
            return not item.title
        if item.left == "body" and self.tokens[item.first - 1].fold in OPENERS:
            return True
        if item.left == "preposition" and item.first > 0:
            left = self.before(item, 2)
            if left is not None and left.fold in lists.bodies and not named:
                return True
        if item.words and item.words[0].fold in SAINTS:
            return not item.title
        if before is not None and before.kind != "mark":
            if before.fold in lists.words["pet"] or before.fold in BORN:
                return True
            widow = self.before(item, 2)
            if (
                before.fold == "de"
                and widow is not None
                and widow.fold in {"viuda", "vda", "veuve"}
            ):
                return len(item.words) == 1
            if before.fold in {"family", "familia", "famille", "familie"}:
                return True
            if before.fold in lists.bodies and item.language in {"es", "fr"} and before.joined:
                return True
        pets = [self.before(item, back) for back in (2, 3)]
        owned = any(pet is not None and pet.fold in lists.words["pet"] for pet in pets)
        if owned and before is not None and before.fold in NAMED:
            return True
        if after is not None and after.fold in {"the", "der", "die", "le", "la", "el"}:
            animal = item.last + 2 < len(self.tokens) and self.tokens[item.last + 2]
            if animal and animal.kind == "low" and animal.fold in lists.words["pet"]:
                return True
        if (
            after is not None
            and after.joined
            and after.fold in {"family", "families", "brothers", "sisters"}
        ):
            return not named
        return False

    def _is_office(self, item: Item) -> bool:
        """Whether a title with "of" stands before: "Secretary of State", "Chief of Staff"."""
        at = item.first - 1
        while at > 0 and item.first - at < 4 and self.tokens[at].kind == "cap":
            at -= 1
        if at < 1 or self.tokens[at].fold not in OF | {"for"}:
            return False
        lists = lexicon()
        role = self.tokens[at - 1].fold
        return role in lists.words["role"] or role in lists.titles["any"]

    def _take_small_title(self, item: Item) -> None:
        """A title or a relation written small: "la abuela Pilar", "president Bush"."""
        before = self.before(item)
        titles = lexicon().titles
        if before is not None and before.text == "," and len(item.words) == 1 and not item.title:
            # "his wife, Laci, and": closed by a comma or a stop.
            kin, after = self.before(item, 2), self.after(item)
            closed = after is None or after.text in {",", ".", ")", ";"} or after.fold in ANDS
            owner = self.before(item, 3)
            if kin is not None and kin.kind == "low" and kin.fold in titles["kin"] and closed:
                item.title = "kin" if owner is not None and owner.fold in OWN else ""
            return
        if item.title or before is None or before.kind != "low" or not item.tokens[0].joined:
            return
        if before.fold in OURS and item.given and len(item.words) == 1:
            after = self.after(item)
            loose = after is None or after.kind == "mark" or not after.joined
            if loose or (after is not None and after.fold in lexicon().words["function"]):
                item.title = "kin"
                return
        if before.fold in titles["kin"]:
            item.title = "kin"
        elif before.fold in titles["any"]:
            item.title = "small"

    def _stands_at(self, item: Item) -> str:
        """What the words before say: "place", "the", "role" (president of), or nothing."""
        lists = lexicon()
        before = self.before(item)
        if before is not None and before.text == "," and self._goes_on(item):
            return "place"
        if before is None or before.kind == "mark" or item.left in {"title", "nation"}:
            return ""
        dutch = before.fold == "en" and self.dutch
        locative = before.fold in lists.words["locative"] or before.text == "à"
        if before.kind == "low" and locative and not dutch:
            looked = self.before(item, 2)
            return "" if looked is not None and looked.fold in GAZES else "place"
        if before.fold in lists.words["article"] and before.fold not in {"la", "le"}:
            return "the"
        if before.fold in OF:
            owner = self.before(item, 2)
            start = self.tokens[item.first].start
            if before.fold == "of" and owner is not None and self._is_somebody(item.first - 2):
                return "place"
            if owner is not None and owner.fold in lists.words["owner"]:
                return "role"
            return "" if SHOWN.search(self.text, max(0, start - 80), start) else "of"
        return ""

    def _is_somebody(self, at: int) -> bool:
        """Whether a name that was taken ends at a token: "Roger Federer of Basel"."""
        last = self.judged[-1] if self.judged else None
        return last is not None and last.last == at and last.verdict in {"yes", "weak"}

    def _goes_on(self, item: Item) -> bool:
        """Whether a comma goes on with a place: "in Amethi, Uttar Pradesh", "Ballarat, 1910"."""
        if item.given or item.solid or item.title or item.left:
            return False
        if DATED.match(self.text, item.end):
            return True
        at, after = item.first - 2, self.after(item)
        closed = after is None or after.kind == "mark"
        if at < 0 or not self.tokens[item.first - 1].joined or not closed:
            return False
        last = self.judged[-1] if self.judged else None
        if last is not None and last.last == at:
            return last.where == "place" and last.verdict == "no"
        lists = lexicon()
        word = self.tokens[at]
        if word.kind != "cap" or not (word.fold in lists.places or word.fold in lists.bodies):
            return False
        first = at
        while first > 0 and self.tokens[first].joined and self.tokens[first - 1].kind == "cap":
            first -= 1
        return first > 0 and self.tokens[first - 1].fold in lists.words["locative"]

    def _of_many(self, item: Item) -> str:
        where = item.where = self._stands_at(item)
        cued = CUED.match(self.text, item.end) is not None
        if item.title in {"plain", "royal", "kin", "office"} or cued:
            return "yes"
        doubtful = lexicon().doubtful
        known = [w for w, k in zip(item.tokens, item.labels, strict=True) if k == "given"]
        last = item.words[-1].fold
        if where == "the" and self._names_body(item):
            return "no"
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

    def _names_body(self, item: Item) -> bool:
        """Whether a body follows in small letters: "the Bob Casey federal courthouse"."""
        ahead = self.tokens[item.last + 1 : item.last + 3]
        for token in ahead:
            if token.kind != "low" or not token.joined or item.tokens[-1].owned:
                return False
            if token.fold in lexicon().bodies:
                return True
        return False

    def _of_one(self, item: Item) -> str:
        word = item.words[0]
        where = item.where = self._stands_at(item)
        lists = lexicon()
        if "initial" in item.labels and where != "place":
            return "yes"
        if item.title in {"plain", "royal", "kin"}:
            return "yes"
        if item.title and not (item.language == "de" and item.title == "small"):
            return "yes" if where != "place" else "maybe"
        if where in {"the", "role"}:
            return "no"
        if CUED.match(self.text, item.end):
            return "yes"
        owner = self.before(item)
        if word.fold in PRIZES and owner is not None and owner.fold in HOLDERS:
            return "no"
        follower = self.after(item)
        if word.fold in PRIZES and follower is not None and follower.fold in WON:
            return "no"
        if word.fold in lists.single and not where:
            return "yes"
        sure = item.labels[0] == "given" and not (
            word.fold in lists.doubtful or word.fold in lists.places
        )
        if sure and item.left not in {"place", "nation"}:
            return "yes" if where != "place" or word.fold not in lists.places else "no"
        if where or item.left in {"nation", "place", "team"} or item.right:
            return "no" if not self.generous or where == "place" else "maybe"
        before = self.before(item)
        if before is not None and before.owned and before.fold in lists.places:
            return "weak"
        verb = self.before(item, 2)
        meets = verb is not None and MEETS.match(verb.fold) is not None
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
        if before is not None and before.fold in COMPANY | OF and before.kind == "low":
            return "maybe" if item.language == "de" else "weak"
        opens = word.first and item.language != "de" and not noun_like(word.fold, item.language)
        if opens and len(word.text) > 2 and (after is None or self._acts(item, after)):
            return "weak"
        return "maybe"
