"""Labels of words in a run of capitalised words: part of a name, a title, a place, and so on.

"given", "unknown" and "initial" are parts of a name, as are "particle" (van, de), "suffix" (Jr.)
and "nickname" (in quotes) within one; all others are not: "title", "place", "body" (an
organisation or a building), "calendar", "nation", "team", "event", "agency", "noun", "common".
"""

from __future__ import annotations

import re

from candidly.photos.names.lexicon import SMALL_WORDS, Lexicon, lexicon, word_set
from candidly.photos.names.tokens import Token

PARTICLES = word_set(
    "van von der den de del della dello degli delle di da dal do dos das du des la le lo"
    " los las el al bin ibn ben bint binti abu ould ter ten te zu zur zum vom af av y i d'"
    " l' dell' 't op e"
)
# Parts of a name that never stand at its head alone, and make a run of two words a name.
SUFFIX = re.compile(
    r"(?:Jr|Sr|Jnr|Snr)\.?|JR\.?|SR\.?|(?=[IVX])X{0,3}(?:IX|IV|V?I{0,3})|\bfils\b|\bpère\b"
)
NAME = frozenset({"given", "unknown", "initial"})
_MISTER = {"es": "D.", "fr": "M."}
# Titles in other languages, given names in English.
_FOREIGN = word_set("regina reine reina rei primo pepe irma mari")
# Bodies that are never a surname: "Victoria Road".
_BUILT = word_set(
    "road avenue boulevard airport university hospital museum library stadium theatre theater"
    " school college academy institute bridge hotel station highway parkway palace cathedral"
    " church cemetery society association foundation committee company corporation inc ltd"
    " orchestra festival championship championships tournament cup award awards prize"
    " auditorium arena memorial monument prison airlines airways"
)
_ROLES = re.compile(
    r"(?:minister|prasident|kanzler|vorsitzende[nr]?|trainer|sprecher|fuhrer|leiter|spieler"
    r"|sieger|richter|anwalt"
    r"|anwaltin|lehrer|sekretar|direktor|meister|chef|beauftragte[nr]?|vorstand|schauspieler"
    r"|sanger|kommissar"
    r"|laufer|fahrer|springer|schwimmer|boxer|weltmeister|star|legende|ikone|witwe"
    r"|bundesprasident|gattin|darsteller|kollege|kollegin|kollegen|torwart|huter|jager|sturmer"
    r"|profi|pilot|freund|freundin|partner|besitzer|inhaber|grunder|autor|regisseur|dirigent"
    r"|kunstler|forscher|kandidat|abgeordnete[rn]?|schuler|student|offizier|soldat|pfleger)"
    r"(?:in|innen|en|s|es)?"
)
_ROLE_END = re.compile(_ROLES.pattern + "$")  # ends of compounds: Bundestrainer
_NOUNS = re.compile(
    r".+(?:ung|ungen|heit|keit|schaft|schaften|tion|tionen|tat|ismus|ling|linge|nis|tum|stadt"
    r"|strasse|platz|haus"
    r"|kirche|schule|institut|verein|gericht|turnier|spiel|spiele|feier|fest|preis|tag|jahr"
    r"|zeit|bahn|werk|amt"
    r"|stelle|garten|klasse|ungluck|karte|reise|fahrt|finale|konferenz|sitzung|treffen|museum"
    r"|theater|stadion"
    r"|brucke|gesellschaft|verband|partei|bild|foto|kinder|leute|gruppe|mannschaft|hutte|zug"
    r"|lauf|rennen|markt)"
)
_ENGLISH_NOUNS = re.compile(
    r".+(?:ing|ings|tion|tions|ment|ments|ness|ship|ity|ities|ists|ers|ors|men|women|people"
    r"|ians|ants|ees|ly|ed|hood)"
)
_ROMANCE_NOUNS = re.compile(
    r".+(?:cion|ciones|sion|mente|dad|dades|miento|mientos|adores|istas|eros|eras|antes|ement"
    r"|ements|ments|tion"
    r"|tions|eurs|euses|iers|ieres|istes|age|ages|ance|ances|ite|ites|aje|anza|eria)"
)


def noun_like(word: str, language: str) -> bool:
    """Return whether a folded word has the ending of an everyday noun in a language."""
    if language == "de":
        return _NOUNS.fullmatch(word) is not None or _ROLES.fullmatch(word) is not None
    pattern = _ENGLISH_NOUNS if language == "en" else _ROMANCE_NOUNS
    return pattern.fullmatch(word) is not None


def label(tokens: list[Token], language: str) -> list[str]:
    """Return a label for each token of a run; phrases such as "New York" first."""
    lists = lexicon()
    labels = [""] * len(tokens)
    at = 0
    while at < len(tokens):
        size, kind = _phrase(tokens, at, lists) if tokens[at].kind == "cap" else (0, "")
        # After a given name, a place is a surname: "Whitney Houston".
        if size and not (kind == "place" and at and labels[at - 1] in {"given", "initial"}):
            labels[at : at + size] = [kind] * size
            at += size
        else:
            labels[at] = _single(tokens, labels, at, language, lists)
            at += 1
    return labels


def _phrase(tokens: list[Token], at: int, lists: Lexicon) -> tuple[int, str]:
    for parts, kind in lists.phrases.get(tokens[at].fold, ()):
        if tuple(t.fold for t in tokens[at : at + len(parts)]) == parts:
            return len(parts), {"spanish": "common", "german": "common"}.get(kind, kind)
    return 0, ""


def _single(tokens: list[Token], labels: list[str], at: int, language: str, lists: Lexicon) -> str:
    token, word = tokens[at], tokens[at].fold
    before = labels[at - 1] if at else ""
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    inside = after is not None and before in NAME | {"particle"}
    if token.kind == "low" or (inside and word in PARTICLES):
        return "particle"
    if SUFFIX.fullmatch(token.text) and before in NAME:
        return "suffix"
    if token.initial and before in NAME and after is not None:
        return "initial"
    given = lists.is_given(word)
    opens_name = given and after is not None and _may_be_name(after, lists)
    if token.text == _MISTER.get(language) and after is not None:
        return "title"
    if word in lists.words["honour"] and token.text.isupper() and (before in NAME or not after):
        return "common"
    dotted = token.initial and token.text.endswith(".") and word not in lists.titles["any"]
    dotted = dotted and (len(word) == 1 or not lists.is_nobody(word))
    if dotted and after is not None and before not in NAME:
        # The A. of "Sgt. A. J. Crowe" is no article.
        return "initial"
    if lists.is_title(word, token.text) and (after is not None or before in NAME):
        return _title(tokens, labels, at, language, lists)
    if before in {"given", "initial"} and _foreign_small(token, word, lists):
        return "unknown"
    if word in lists.words["noun"] and not (given or token.capitals or lists.is_nobody(word)):
        second = before == "unknown" and at == 1 and after is None and word in lists.surnames
        return "unknown" if before in {"given", "initial"} or second else "common"
    # "Die" is a small word in German only; "Le" may be a surname.
    own = _own(word, language, lists)
    if lists.is_small(word, token.text) and (own or word in lists.words["common"]):
        second = before == "unknown" and at == 1 and after is None and word not in lists.bodies
        surname = word in lists.surnames and (before in {"given", "initial"} or second)
        if surname or (opens_name and before not in NAME and not own):
            return "given" if opens_name else "unknown"
        return "common"
    if token.initial and not lists.is_nobody(word):
        return "initial"
    if lists.is_title(word, token.text):
        return "title"
    if _acronym(token, after, lists) and not lists.is_nobody(word):
        return "agency"
    tail = word.rsplit("-", 1)[-1]
    if "-" in word and tail in lists.titles["any"] and not given and before not in NAME:
        return "title"
    if "-" in word and tail in lists.bodies:
        return "body"
    if lists.is_nobody(word) and _korean(after) and before not in {"given", "initial"}:
        return "unknown"
    everyday = word in lists.words["common"] and not lists.is_small(word, token.text)
    if lists.is_nobody(word) and not everyday:
        if given and language != "en" and word in lists.words["nation"]:
            return "given"  # Finn is a boy, except in English
        return _nobody(token, labels, at, after is None, opens_name, lists)
    if given:
        return "given"
    if language == "de":
        if before not in {"given", "initial", "particle"} and _ROLE_END.search(word):
            return "title"
        if before not in {"given", "initial", "particle"} and _NOUNS.fullmatch(word):
            return "noun"
    return "unknown"


def _acronym(token: Token, after: Token | None, lists: Lexicon) -> bool:
    """Return whether short capitals stand before a given name: FMI Anne Krueger."""
    short = token.capitals and token.text.isalpha() and len(token.text) <= 5
    if not short or after is None or after.capitals or lists.is_given(token.fold):
        return False
    return lists.is_given(after.fold) and not _korean(after) and after.kind == "cap"


def _foreign_small(token: Token, word: str, lists: Lexicon) -> bool:
    """Return whether a small word of some language is a surname here: Artur Mas."""
    own = word in lists.words["function"] and word not in lists.words["common"]
    return own and not token.first and not token.capitals


def _own(word: str, language: str, lists: Lexicon) -> bool:
    """Return whether a word is a small one of a language other than English."""
    return language != "en" and word in lists.words[SMALL_WORDS[language]]


def _may_be_name(token: Token, lists: Lexicon) -> bool:
    word = token.fold
    if token.kind == "low" or word in PARTICLES:
        return word in PARTICLES
    if word in lists.surnames or lists.is_given(word) or token.initial:
        return True
    return not (
        lists.is_nobody(word) or word in lists.titles["any"] or word in lists.words["function"]
    )


def _korean(token: Token | None) -> bool:
    """Return whether a word is a Korean given name: Jie-won, Moo-hyun."""
    return token is not None and re.fullmatch(r"[A-Z][a-z]+-[a-z]+", token.text) is not None


def _title(tokens: list[Token], labels: list[str], at: int, language: str, lists: Lexicon) -> str:
    """Return what a title is: "title", or "given" or "unknown" for King, Dean and Bishop."""
    word = tokens[at].fold
    before = labels[at - 1] if at else ""
    rest = [token for token in tokens[at + 1 :] if not SUFFIX.fullmatch(token.text)]
    if before in {"given", "initial"} and (not rest or word in lists.surnames):
        return "unknown"
    if before == "unknown" and not rest:
        return "unknown"
    pure = word in lists.titles["plain"] or word in lists.titles["kin"]
    pure = pure and word not in {"don", "lady", "lord", "sir"}
    if word in _FOREIGN and language == "en" and rest and _may_be_name(rest[0], lists):
        return "given"
    if lists.is_given(word) and not pure and len(rest) == 1 and _may_be_name(rest[0], lists):
        # Dean Barkley is a man, Dean Aldous Finch a dean.
        return "given"
    return "title"


def _nobody(
    token: Token, labels: list[str], at: int, last: bool, opens_name: bool, lists: Lexicon
) -> str:
    """Return the label of a word that is usually nobody: a surname after a given name."""
    word = token.fold
    before = labels[at - 1] if at else ""
    if before in {"given", "initial"}:
        if word in lists.surnames or word in lists.places or word in lists.leading:
            return "unknown"
        if lists.is_given(word):
            return "given"
        opens = at == 1 or labels[at - 2] not in NAME
        if last and word in lists.words["nation"]:
            return "unknown"  # Paul Bremer
        if last and opens and (word in lists.bodies or word in lists.words["team"]):
            # Gabrielle Union; "at the Elizabeth Hospital" is recognised by the words before.
            return "body" if word in _BUILT else "unknown"
    if before == "unknown" and last:
        in_name = any(kind in {"given", "initial"} for kind in labels[:at])
        if word in lists.surnames and (in_name or (at == 1 and word not in lists.bodies)):
            return "unknown"
        if word in lists.leading and in_name:
            return "unknown"
    first = at - 1
    while first > 0 and labels[first] == "particle":
        first -= 1
    alone = labels[first] == "given" and (first == 0 or labels[first - 1] not in NAME)
    named = word in lists.places or word in lists.leading or word in lists.surnames
    if before == "particle" and alone and named:
        # Lars von Trier is a man, María Duarte de Quito comes from there.
        return "unknown"
    if lists.is_given(word) and before not in NAME and (opens_name or word in lists.places):
        return "given"
    if word in lists.words["agency"] and (len(word) > 4 or token.text.isupper()):
        return "agency"
    for kind in ("calendar", "nation", "team", "event"):
        if word in lists.words[kind]:
            return kind
    if word in lists.words["agency"] and word not in lists.words["common"]:
        return "unknown"
    if word in lists.bodies:
        return "body"
    return "place" if word in lists.places else "common"
