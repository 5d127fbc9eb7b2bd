"""Verdicts on whether a candidate is a name, by the words around it."""

from __future__ import annotations

import re

from candidly.photos.names.labels import noun_like
from candidly.photos.names.lexicon import lexicon, word_set
from candidly.photos.names.name_candidates import (
    NameCandidate,
    caseless_candidates,
    caseless_sentences,
    cut,
    find_runs,
)
from candidly.photos.names.tokens import Token, find_masks, german_genitives, languages, tokenize

_CUED = re.compile(
    r"\s*(?:,\s*)?\((?:\d?\w{0,3}[- ]?)?(?:[LRC]|left|right|cent(?:er|re)|links|rechts|mitte"
    r"|l\.|r\.|li\.|re\."
    r"|izq\w*\.?|der\w*\.?|i|d|g|à g\.?|à dr?\.?|gauche|droite|à gauche|à droite|izda\.?|dcha\.?)\)"
    r"|,\s(?:at |far )?(?:left|right|cent(?:er|re)),",
    re.IGNORECASE,
)
# Words after which a lone unknown word is a person.
_COMPANY = word_set(
    "with by against beside alongside including featuring facing shows show meets meet"
    " beats beat defeats greets hugs kisses congratulates embraces joined helps con avec"
    " mit contra contre junto zeigt muestra montre named called says said told"
)
_OF = word_set("of von de del du d' des di da der")
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
_OPENERS = word_set(
    "st saint ste sankt hurricane typhoon cyclone shuttle operation uss hms rms fort lake mount"
)
_PRIZES = word_set("oscar emmy tony cesar edgar hugo goya grammy")
_HOLDERS = word_set("an a his her their its first second best")
# Spanish says "a" before people, and before places only after verbs of going.
_MEETS = re.compile(
    r"(?:gan|venc|venz|derrot|salud|abraz|felicit|entrevist|bes|recib|elimin|acompan|despid|homenaj)"
)
_BORN = word_set("geb geborene nee née born geboren nacida")
_NAMED = word_set("is named called namens heisst ist est es llamado appele")
_DUTCH = word_set("het een bij tijdens naar tussen voor wordt zijn aan oma's met")
_GAZES = word_set("looks smiles waves stares looking smiling waving points yells pointing")
_SAINTS = word_set("san santa saint sao santo sankt mount fort")
_ANDS = word_set("and und y e et with mit con avec")
_OWN = word_set(
    "his her their my our sein seine seiner ihr ihre ihrer mein meine su sus mi mis son sa ses"
    " mon ma mes the la el der die"
)
_WHO = word_set("who whose wearing left right der quien qui")
_OURS = word_set("our unser unsere unserer notre nuestro nuestra")
# FleetCenter, YouTube; McCartney, DeNiro, LeBron and ElBaradei are people.
_CAMEL = re.compile(
    r"(?!(?:Mc|Mac|De|Di|Du|Da|Le|La|Lo|Van|Von|Vander|Fitz|El|Al|O|St|Jo|Ja|Ro|Del|Della|San|Ten|Ter"
    r"|Abd|Abu|Bin|Ben)[A-Z])[A-Z][a-z]+[A-Z][a-zA-Z]*"
)
_WON = word_set(
    "winner winners winning nominee nominees nominated night party ceremony award awards"
    " statuette gala hopeful hopefuls telecast race gold"
)
# After a name and a comma, these make the next name a place: "his brother Albert, Taranaki, 1910".
_DATED = re.compile(
    r"\s*,?\s*\(?(?:c(?:a|irca)?\.?\s?|um\s|vers\s|hacia\s|about\s|in\s|early\s|late\s"
    r"|(?:[Ss]pring|[Ss]ummer|[Aa]utumn|[Ff]all|[Ww]inter|[Ss]ommer|[Hh]erbst|[Vv]erano|[ée]t[ée])\s"
    r"|\d{1,2}\.?\s)?(?:\w{3,9}\.?\s(?:de\s|\d{1,2},\s)?)?(?:1[5-9]|20)\d\d"
)
# Used before the first and after the last word of a sentence.
_SENTENCE_EDGE = Token("", 0, 0, "mark", "")


class TextAnalysis:
    """The tokens of a text, its sentences' languages, and its candidates with verdicts."""

    def __init__(self, text: str, *, generous: bool = False) -> None:
        self.text = text
        self.generous = generous
        self.tokens = tokenize(text, find_masks(text))
        self.languages = languages(self.tokens)
        self.dutch = not _DUTCH.isdisjoint(token.fold for token in self.tokens)
        german_genitives(self.tokens, self.languages)
        self.candidates: list[NameCandidate] = []
        caseless = caseless_sentences(self.tokens)
        for first, end in find_runs(self.tokens):
            sentence = self.tokens[first].sentence
            if sentence not in caseless:
                self.candidates += cut(self.tokens, first, end, self.languages[sentence])
        self.judged: list[NameCandidate] = []
        for item in self.candidates:
            item.verdict = self._verdict(item)
            self.judged.append(item)
        self.candidates += caseless_candidates(
            self.tokens, caseless, self.languages, generous=generous
        )
        self.candidates.sort(key=lambda item: item.start)

    def _near(self, item: NameCandidate, at: int) -> Token:
        inside = 0 <= at < len(self.tokens) and self.tokens[at].sentence == item.sentence
        return self.tokens[at] if inside else _SENTENCE_EDGE

    def _before(self, item: NameCandidate, back: int = 1) -> Token:
        """Return the token before a candidate; an empty mark at the edge of its sentence."""
        return self._near(item, item.first - back)

    def _after(self, item: NameCandidate) -> Token:
        """Return the token after a candidate; an empty mark at the edge of its sentence."""
        return self._near(item, item.last + 1)

    def _verdict(self, item: NameCandidate) -> str:
        """Return whether a candidate is a name: "yes", "weak", "maybe" or "no"."""
        if self._is_body(item) or not item.words:
            return "no"
        self._take_small_title(item)
        return self._of_many(item) if len(item.words) > 1 else self._of_one(item)

    def _is_body(self, item: NameCandidate) -> bool:
        """Return whether a candidate is part of a street's, team's or family's name, or a pet."""
        lists = lexicon()
        before, after = self._before(item), self._after(item)
        named = item.given and len(item.words) > 1
        if item.right == "body" and not item.tokens[-1].owned:
            return True
        if item.left in {"body", "common"} and self._is_office(item):
            item.title = "office"
            return False
        if item.left == "body" and not (named and item.language == "en"):
            return True
        if len(item.words) == 1 and _CAMEL.fullmatch(item.words[0].text) and not item.given:
            return not item.title
        if item.left == "body" and self.tokens[item.first - 1].fold in _OPENERS:
            return True
        body = self._before(item, 2).fold in lists.bodies
        if item.left == "preposition" and body and not named:
            return True
        if item.words and item.words[0].fold in _SAINTS:
            return not item.title
        if before.kind != "mark":
            if before.fold in lists.words["pet"] or before.fold in _BORN:
                return True
            widow = self._before(item, 2).fold in {"viuda", "vda", "veuve"}
            if before.fold == "de" and widow:
                return len(item.words) == 1
            if before.fold in {"family", "familia", "famille", "familie"}:
                return True
            if before.fold in lists.bodies and item.language in {"es", "fr"} and before.joined:
                return True
        pet = any(self._before(item, back).fold in lists.words["pet"] for back in (2, 3))
        if pet and before.fold in _NAMED:
            return True
        if after.fold in {"the", "der", "die", "le", "la", "el"}:
            animal = item.last + 2 < len(self.tokens) and self.tokens[item.last + 2]
            if animal and animal.kind == "low" and animal.fold in lists.words["pet"]:
                return True
        family = after.fold in {"family", "families", "brothers", "sisters"}
        return family and after.joined and not named

    def _is_office(self, item: NameCandidate) -> bool:
        """Return whether a title with "of" stands before: "Secretary of State"."""
        at = item.first - 1
        while at > 0 and item.first - at < 4 and self.tokens[at].kind == "cap":
            at -= 1
        if at < 1 or self.tokens[at].fold not in _OF | {"for"}:
            return False
        lists = lexicon()
        role = self.tokens[at - 1].fold
        return role in lists.words["role"] or role in lists.titles["any"]

    def _take_small_title(self, item: NameCandidate) -> None:
        """Set a title or a relation in small letters: "la abuela Pilar", "president Bush"."""
        before = self._before(item)
        titles = lexicon().titles
        if before.text == "," and len(item.words) == 1 and not item.title:
            # "his wife, Laci, and": closed by a comma or a stop.
            kin, after = self._before(item, 2), self._after(item)
            closed = after.text in {"", ",", ".", ")", ";"} or after.fold in _ANDS
            if kin.kind == "low" and kin.fold in titles["kin"] and closed:
                item.title = "kin" if self._before(item, 3).fold in _OWN else ""
            return
        if item.title or before.kind != "low" or not item.tokens[0].joined:
            return
        if before.fold in _OURS and item.given and len(item.words) == 1:
            after = self._after(item)
            loose = after.kind == "mark" or not after.joined
            if loose or after.fold in lexicon().words["function"]:
                item.title = "kin"
                return
        if before.fold in titles["kin"]:
            item.title = "kin"
        elif before.fold in titles["any"]:
            item.title = "small"

    def _stands_at(self, item: NameCandidate) -> str:
        """Return what the words before show: "place", "the", "role" (president of), "of" or ""."""
        lists = lexicon()
        before = self._before(item)
        if before.text == "," and self._goes_on(item):
            return "place"
        if before.kind == "mark" or item.left in {"title", "nation"}:
            return ""
        dutch = before.fold == "en" and self.dutch
        locative = before.fold in lists.words["locative"] or before.text == "à"
        if before.kind == "low" and locative and not dutch:
            return "" if self._before(item, 2).fold in _GAZES else "place"
        if before.fold in lists.words["article"] and before.fold not in {"la", "le"}:
            return "the"
        if before.fold in _OF:
            owner = self._before(item, 2)
            start = self.tokens[item.first].start
            if before.fold == "of" and owner.text and self._is_somebody(item.first - 2):
                return "place"
            if owner.fold in lists.words["owner"]:
                return "role"
            return "" if _SHOWN.search(self.text, max(0, start - 80), start) else "of"
        return ""

    def _is_somebody(self, at: int) -> bool:
        """Return whether a name that was taken ends at a token: "Roger Federer of Basel"."""
        last = self.judged[-1] if self.judged else None
        return last is not None and last.last == at and last.verdict in {"yes", "weak"}

    def _goes_on(self, item: NameCandidate) -> bool:
        """Return whether a comma goes on with a place: "in Amethi, Uttar Pradesh"."""
        if item.given or item.solid or item.title or item.left:
            return False
        if _DATED.match(self.text, item.end):
            return True
        at, closed = item.first - 2, self._after(item).kind == "mark"
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

    def _of_many(self, item: NameCandidate) -> str:
        """Return the verdict on a candidate of several words."""
        where = item.where = self._stands_at(item)
        cued = _CUED.match(self.text, item.end) is not None
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
        if item.language == "de" and noun_like(item.words[0].fold, "de"):
            return "no"
        if known or item.solid or item.title:
            return "yes"
        if where == "of":
            return "weak" if self.generous or item.language == "en" else "no"
        if item.tokens[0].first and noun_like(item.words[0].fold, item.language):
            return "maybe"
        return "weak"

    def _names_body(self, item: NameCandidate) -> bool:
        """Return whether a body follows in small letters: "the Bob Casey federal courthouse"."""
        ahead = self.tokens[item.last + 1 : item.last + 3]
        for token in ahead:
            if token.kind != "low" or not token.joined or item.tokens[-1].owned:
                return False
            if token.fold in lexicon().bodies:
                return True
        return False

    def _of_one(self, item: NameCandidate) -> str:
        """Return the verdict on a single word."""
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
        if _CUED.match(self.text, item.end):
            return "yes"
        before, after = self._before(item), self._after(item)
        if word.fold in _PRIZES and (before.fold in _HOLDERS or after.fold in _WON):
            return "no"
        if word.fold in lists.single and not where:
            return "yes"
        doubtful = word.fold in lists.doubtful or word.fold in lists.places
        if item.labels[0] == "given" and not doubtful and item.left not in {"place", "nation"}:
            return "yes"
        if where or item.left in {"nation", "place", "team"} or item.right:
            return "no" if not self.generous or where == "place" else "maybe"
        if before.owned and before.fold in lists.places:
            return "weak"
        meets = before.text == "a" and _MEETS.match(self._before(item, 2).fold)
        if meets and item.language == "es":
            return "weak"
        acronym = word.capitals and len(word.text) <= 5
        if acronym or ("-" in word.fold and item.language == "de"):
            return "no"
        return self._of_unknown(item, word)

    def _acts(self, item: NameCandidate, after: Token) -> bool:
        """Return whether the words after show that a person acts: "Zico, seen here"."""
        verbs = lexicon().words["verb"]
        if after.text != "," or item.last + 2 >= len(self.tokens):
            return after.fold in verbs or after.text == "."
        follower = self.tokens[item.last + 2].fold
        return follower in verbs or follower in _WHO

    def _of_unknown(self, item: NameCandidate, word: Token) -> str:
        """Return the verdict on a word that is in no list, by its sentence alone."""
        if noun_like(word.fold, item.language) and not self.generous:
            return "no"
        before, after = self._before(item), self._after(item)
        if before.fold in _COMPANY | _OF and before.kind == "low":
            return "maybe" if item.language == "de" else "weak"
        opens = word.first and item.language != "de" and not noun_like(word.fold, item.language)
        if opens and len(word.text) > 2 and (not after.text or self._acts(item, after)):
            return "weak"
        return "maybe"
