"""Parts of a caption that name nobody shown: credits, datelines, quoted titles, links, markup."""

from __future__ import annotations

import re

from candidly.photos.names.lexicon import fold, lexicon

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
_CREDIT = [re.compile(pattern) for pattern in _CREDITS]
_DATELINE = [re.compile(pattern) for pattern in _DATELINES]
_NOISE = [re.compile(pattern) for pattern in _OTHER]


def find_masks(text: str) -> list[tuple[int, int]]:
    """Return the spans that name nobody shown, merged and in order."""
    spans = [match.span() for pattern in (*_CREDIT, *_NOISE) for match in pattern.finditer(text)]
    spans += [span for match in _QUOTED.finditer(text) if (span := _title(text, match))]
    for pattern in _DATELINE:
        if (match := pattern.match(text)) and _is_dateline(text, match.end()):
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
    """Whether what stands before the dash is a place; TONY BLAIR - arrives is none."""
    lists = lexicon()
    head = [fold(word) for word in re.findall(r"[^\W\d_]+", text[:end])]
    if any(agency in text[:end] for agency in ("(AP)", "(AFP)", "(Reuters)", "(dpa)", "(EFE)")):
        return True
    if len(head) > 1 and lists.is_given(head[0]) and head[0] not in lists.places | lists.doubtful:
        return False
    # In a text of capitals only, a place has to be known.
    return not text.isupper() or head[0] in lists.places


def _title(text: str, match: re.Match[str]) -> tuple[int, int] | None:
    """The span of a quoted title, none where the quotes hold a sentence, a nickname or it all."""
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
