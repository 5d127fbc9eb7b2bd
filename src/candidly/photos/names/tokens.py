"""The words of a text, each with its span, its sentence and how it is written.

Left out are the parts of a caption that name nobody shown, its masks: credits, datelines, quoted
titles, links and markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from candidly.photos.names.lexicon import SMALL_WORDS, fold, lexicon, word_set

_AGENCY = (
    r"(?:AP|AFP|UPI|EPA|EFE|DPA|dpa|APA|ANSA|TASS|ITAR-TASS|RIA(?: Novosti)?|XINHUA|Xinhua"
    r"|KYODO|Kyodo"
    r"|YONHAP|Yonhap|REUTERS|Reuters|GETTY(?: IMAGES)?|Getty(?: Images)?|CORBIS|Corbis|WENN"
    r"|WireImage"
    r"|Magnum(?: Photos)?|(?:The )?Associated Press|(?:The )?Canadian Press|Press Association"
    r"|PA(?: Wire)?"
    r"|Agence France-Presse|BELGA|Belga|ANP|KEYSTONE|Keystone|ddp|dapd|imago|Imago|SIPA|Sipa|MAXPPP"
    r"|picture alliance|ullstein bild|Bundesarchiv|Europa Press|Notimex|LUSA|Lusa|CTK|PAP|MTI|TT"
    r"|Scanpix|Ritzau|Lehtikuva|ZUMA(?:press)?|Shutterstock|Alamy|AAP|PTI|CP|Pool|POOL|Handout"
    r"|HANDOUT)"
)
_SMALL = r"(?:van|von|der|den|de|del|la|da|di|dos|bin|al|el|le|du|ten|ter)"
_CAP = r"(?:(?:[A-ZÀ-ÞŁŠŽČĆİ]|[A-Z]['’])[^\W\d_]{0,30}(?:[-'’][^\W\d_]{1,30}){0,3}\.?)"
_NAME = rf"{_CAP}(?:[ \t]+(?:{_SMALL}[ \t]+){{0,2}}{_CAP}){{0,3}}"
_SHORT_NAME = rf"{_CAP}(?:[ \t]+[A-Z]\.)?(?:[ \t]+(?:{_SMALL}[ \t]+){{0,2}}{_CAP})?"
_SOURCE = (
    r"(?:Pool(?: Photo)?|POOL|Staff|STAFF|Stringer|STRINGER|Handout|HANDOUT|HO|STR|STF"
    r"|Files?|FILES?)"
)
_PHOTO = (
    r"(?:[Pp]hoto(?:s|graph|graphy|grapher|graphe|s? credit)?|PHOTO|[Pp]ictures?|[Ii]mages?"
    r"|[Cc]redits?|FOTO|[Ff]otos?"
    r"|[Ff]otograf(?:in|ía|o|a)?|[Bb]ild(?:er|quelle|nachweis)?|[Aa]ufnahme|[Qq]uelle"
    r"|[Cc]r[ée]dits?"
    r"(?: [Pp]hoto(?:s|graphique)?)?|[Pp]hotographie|[Cc]lich[ée]|[Ff]uente|[Ss]ource|[Cc]ourtesy)"
)
_NO_ARTICLE = r"(?<!\bthe )(?<!\bthis )(?<!\bthese )(?<!\bdem )(?<!\bder )(?<!\bla )"
_END = r"(?=\s*(?:[.;\n)\]|]|$))"
_CREDITS = (
    # (AP Photo/Alastair Grant), (Foto: AP), [Photo by X]
    rf"[(\[][^()\[\]\n]{{0,40}}?(?:{_PHOTO}\s?(?::|/|by\b|courtesy|de\b)|\b{_AGENCY}\s?/"
    rf"|/\s?{_AGENCY}\b"
    rf"|\b{_AGENCY}\s{_PHOTO}|{_PHOTO}\s{_AGENCY}\b)[^()\[\]\n]{{0,160}}[)\]]?",
    rf"[(\[]{_AGENCY}[)\]]",
    # Photo: John Harris/EPA; Photo by X/Y; Foto: X / EFE; "in the picture: X" is none
    rf"{_NO_ARTICLE}\b{_PHOTO}\s?(?::|\b[Bb]y\b|\b[Cc]ourtesy of\b|\bvon\b|\bde\b:)\s*"
    rf"{_NAME}(?:\s?(?:/|,|&"
    rf"|\band\b|\bund\b"
    rf"|\by\b|\bet\b|\bfor\b"
    rf"|\bvia\b)\s?{_NAME}){{0,3}}?\s?/\s?(?:(?:{_AGENCY})\b(?:\s?/\s?{_SOURCE})?"
    rf"|{_NAME}{_END})",
    rf"{_NO_ARTICLE}\b{_PHOTO}\s?(?::|\b[Bb]y\b|\b[Cc]ourtesy of\b)\s*"
    rf"(?:{_AGENCY}|{_NAME}(?:\s?(?:,|/|&"
    rf"|\band\b)\s?{_NAME}){{0,3}}{_END}|{_SHORT_NAME}(?=\s+[A-Z]))",
    # Photo Jérôme Prévost/L'Équipe
    rf"\b(?:[Pp]hoto|[Ff]oto)\s+{_NAME}\s?/\s?(?:{_AGENCY}\b|{_NAME})",
    # PHOTO LUDOVIC MARIN, AFP
    rf"\b(?:PHOTO|FOTO|[Pp]hoto|[Ff]oto)\s+{_NAME}\s?,\s?{_AGENCY}\b",
    # REUTERS/Jamil Bittar, AP Photo/X
    rf"\b{_AGENCY}(?:[ \t]{_PHOTO})?\s?/\s?(?:{_SOURCE}\b(?:\s?/\s?{_NAME}{_END})?"
    rf"|{_NAME}{_END}|{_SHORT_NAME})",
    # Alastair Grant/AP
    rf"\b{_SHORT_NAME}\s?/\s?{_AGENCY}\b(?:\s?/\s?{_SOURCE}|[ \t]{_PHOTO})?",
    # Bundesarchiv, Bild 183-24300-0049 / Heinz Funck
    rf"\bBundesarchiv,?\s(?:B\s\d+\s)?Bild[\w\s-]{{1,30}}/\s?{_NAME}",
    # A last sentence's "/ JOAN SÁNCHEZ"
    rf"(?<=[.)»”])\s*/\s?{_NAME}\s*\Z",
    r"(?:©|\([cC]\)(?=\s?(?:[A-Z]|\d{4}))|\b[Cc]opyright\b)(?:\bcoll\.|[^.\n]){0,120}",
    rf"\b(?:[Pp]hotographed|[Tt]aken|[Pp]ainted|[Ee]ngraved) by\s+{_NAME}",
    # Cabinet card by W. Lawrence
    rf"\b(?:[Cc]abinet card|[Cc]arte[- ]de[- ]visite|[Pp]rint|[Nn]egative|[Pp]ainting|[Dd]rawing"
    rf"|[Ee]ngraving|[Ll]ithograph|[Dd]aguerreotype|[Tt]intype|[Ss]ketch|[Ss]tudio portrait)"
    rf" (?:by|von|de|por|par)\s+{_NAME}",
    rf"\b[Cc]ourtesy(?: of)?\s+{_NAME}{_END}",
)
_DATELINES = (
    rf"\A\s*[A-ZÀ-Þ][^\n.()]{{1,60}}?\s*\((?:{_AGENCY})\)\s*[-–—_:]+\s",
    r"\A\s*[A-ZÀ-Þ]{3,30}[A-ZÀ-Þ .'/\-]{0,40}(?:,\s*[^\n.(:–—]{1,40}?)?\s*[-–—]+"
    r"\s*[A-Z][A-Za-z]{2,8}\.?\s\d{1,2}\s*:",
    r"\A\s*[A-ZÀ-Þ]{3,30}(?:[ /'\-][A-ZÀ-Þ]{2,30}){0,3}(?:,\s*(?:[A-Z]\.){2}"
    r"|,\s*[^\n.(:–—\-]{1,40}?)?\s+[-–—]+\s",
)
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
_QUOTED = re.compile(
    r"\"([^\"\n]{1,80})\"|“([^”\n]{1,80})”|«\s?([^»\n]{1,80}?)\s?»|„([^“”\n]{1,80})[“”]"
)
# What is written on a picture names people as a caption does.
_INSCRIBED = re.compile(
    r"(?:verso|reverse|back|inscri\w+|caption\w*|label\w*|handwritten|r[üu]ckseite|beschriftet"
    r"|aufschrift|dorso|reverso|anotad\w|dos|l[ée]gend\w+)\b[^\"“«„.]{0,20}[\"“«„]?\Z",
    re.IGNORECASE,
)
_MASKED = [re.compile(pattern) for pattern in (*_CREDITS, *_OTHER)]
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


def find_masks(text: str) -> list[tuple[int, int]]:
    """Return the spans of a text that name nobody shown, merged and in order."""
    spans = [match.span() for pattern in _MASKED for match in pattern.finditer(text)]
    spans += [span for match in _QUOTED.finditer(text) if (span := _title(text, match))]
    for pattern in _DATELINES:
        if (match := re.match(pattern, text)) and _is_dateline(text, match.end()):
            spans.append(match.span())
            break
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _is_dateline(text: str, end: int) -> bool:
    """Return whether what stands before the dash is a place; TONY BLAIR - arrives is none."""
    lists = lexicon()
    head = [fold(word) for word in re.findall(r"[^\W\d_]+", text[:end])]
    if any(agency in text[:end] for agency in ("(AP)", "(AFP)", "(Reuters)", "(dpa)", "(EFE)")):
        return True
    if len(head) > 1 and lists.is_given(head[0]) and head[0] not in lists.places | lists.doubtful:
        return False
    # In a text of capitals only, a place has to be known.
    return not text.isupper() or head[0] in lists.places


def _title(text: str, match: re.Match[str]) -> tuple[int, int] | None:
    """Return the span of a quoted title; None where the quotes hold a sentence or a nickname."""
    start, end = match.span()
    inside = next(group for group in match.groups() if group is not None)
    words = inside.split()
    if len(words) > 8 or end - start > 0.6 * len(text.strip()):
        return None
    if _INSCRIBED.search(text[max(0, start - 40) : start]):
        return None
    nickname = re.search(r"[^\W\d_] $", text[max(0, start - 2) : start])
    if nickname and len(words) <= 3 and re.match(r" [A-ZÀ-Þ]", text[end : end + 2]):
        return None
    return start, end


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


def tokenize(text: str, masks: list[tuple[int, int]]) -> list[Token]:
    """Return the tokens outside the masks, in order."""
    tokens: list[Token] = []
    sentence, fresh, at, broken, last_end = 0, True, 0, False, 0
    for token in _cut(text):
        while at < len(masks) and masks[at][1] <= token.start:
            at, broken = at + 1, True
        if at < len(masks) and masks[at][0] < token.end:
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
