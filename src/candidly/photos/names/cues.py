"""Places that a text gives to people: "(L)", "second from right", "von links", "à gauche"."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace

from candidly.photos.names.tokens import PARTY, SHORT
from candidly.photos.records import Cue, Mention

_ORDINALS = {
    1: r"1st|first|far|extreme|ganz|1\.|erste[rs]?|primer[oa]?|1[ºª°]|premi[eè]re?|1(?:er|re|ère)",
    2: r"2nd|second|2\.|zweite[rs]?|segund[oa]|2[ºª°]|deuxi[eè]me|seconde?|2(?:e|[eè]me|nde?)",
    3: r"3rd|third|3\.|dritte[rs]?|tercer[oa]?|3[ºª°]|troisi[eè]me|3(?:e|[eè]me)",
    4: r"4th|fourth|4\.|vierte[rs]?|cuart[oa]|4[ºª°]|quatri[eè]me|4(?:e|[eè]me)",
    5: r"5th|fifth|5\.|f[uü]nfte[rs]?|quint[oa]|5[ºª°]|cinqui[eè]me|5(?:e|[eè]me)",
    6: r"6th|sixth|6\.|sechste[rs]?|sext[oa]|6[ºª°]|sixi[eè]me|6(?:e|[eè]me)",
}
_LEFT = r"left|links|izquierd[ao]|gauche|sinistra|esquerda|v[äe]nster|venstre|lewej|solda"
_RIGHT = r"right|rechts|derech[ao]|droite|destra|direita|h[öoø](?:ger|jre)|h[øo]yre|prawej|sa[ğg]da"
_LEFT_SHORT = r"l\.?|li\.|lks\.?|izq\.?|izda\.?|i\.?|g\.?|esq\.?|sx|t\.?v\.?"
_RIGHT_SHORT = r"r\.?|re\.|rts\.?|der\.?|dcha\.?|dch\.?|d\.?|dr\.?|dir\.?|dx|t\.?h\.?"
_ANY_ORDINAL = "|".join(f"(?P<o{place}>{form})" for place, form in _ORDINALS.items())
_FROM = (
    r"(?:(?:from|in)(?: the)?|von|v\.|desde la|por la|a partir de la|empezando por la"
    r"|comenzando por la"
    r"|[aà] partir de la|en partant de la|depuis la|en comptant de la|a|à|de la|da)"
)
# "second from right", "Zweiter von rechts", "2. v. l.", "segundo por la izquierda", "2e à gauche"
_NTH = re.compile(
    rf"(?<!\w)(?:the )?(?:{_ANY_ORDINAL})[\s-]*(?:person |man |woman )?(?:{_FROM}\s?)?"
    rf"(?:(?P<left>(?:{_LEFT})\b|(?:l|li|L)\b\.?)|(?P<right>(?:{_RIGHT})\b|(?:r|re|R)\b\.?))",
    re.IGNORECASE,
)
_SIDES = re.compile(
    rf"(?<!\w)(?:(?:on|at|to|in) (?:the )?(?:far |extreme |top |bottom )?|far |extreme |front "
    rf"|back |top |bottom |ganz |vorne? |hinten |oben |unten "
    rf"|a (?:la |mano )?|en la |[aà] (?:la |l['’]extr[eê]me )?|sur la |till |til |po |na )?"
    rf"(?:(?P<left>(?:{_LEFT})\b)|(?P<right>(?:{_RIGHT})\b)"
    rf"|(?P<centre>(?:the )?(?:cent(?:er|re)|middle)\b|(?:in der |der )?mitte\b|mittig\b"
    rf"|(?:en (?:el )?)?(?:centro|medio)\b|al centro\b|au (?:centre|milieu)\b)"
    rf"|(?P<back>(?:in the )?(?:background|rear)\b|(?:back|rear) row\b|back(?=\s?:)"
    rf"|(?:im )?hintergrund\b|hinten\b"
    rf"|hintere reihe\b|(?:al |en el )?fondo\b|detr[aá]s\b|(?:au |[aà] l['’])(?:fond"
    rf"|arri[eè]re(?:-plan)?)\b|fila de atr[aá]s\b)"
    rf"|(?P<front>(?:in the )?foreground\b|front row\b|front\b|(?:im )?vordergrund\b|vorne?\b"
    rf"|vordere reihe\b|(?:en )?primer plano\b|delante\b|au premier (?:plan|rang)\b|devant\b)"
    rf"|(?P<top>(?:top|upper) row\b|obere reihe\b|fila superior\b|(?:at (?:the )?)?top\b"
    rf"|above\b|oben\b|arriba\b|en haut\b)"
    rf"|(?P<bottom>(?:bottom|lower) row\b|untere reihe\b|fila inferior\b|(?:at (?:the )?)?bottom\b"
    rf"|below\b|unten\b|abajo\b|en bas\b))",
    re.IGNORECASE,
)
# Bare words that are cues only between commas or in brackets: "left" is a verb, "front" a noun.
_WEAK = re.compile(
    r"(?:left|right|cent(?:er|re)|front|top|above|below|devant|delante|vorne?|hinten|oben|unten"
    r"|back row|front row|background|foreground|middle|fond|medio|bottom|rear|mitte|centro"
    r"|centre)$",
    re.IGNORECASE,
)
# German and Spanish words that are no verb may stand before a name without a mark.
_UNMARKED = re.compile(r"vorn|hinten|oben|unten|arriba|abajo|detr|delante", re.IGNORECASE)
_SHORT = re.compile(
    rf"(?:(?:{_ANY_ORDINAL}|(?P<digit>[1-9]))[\s.-]*)?(?:from |v\.\s?|von |[aà] "
    rf"|a la )?(?:(?P<left>{_LEFT_SHORT})|(?P<right>{_RIGHT_SHORT})|(?P<centre>c\.?|m\.|mi\.))",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"(?<!\w)(?:"
    r"(?P<ltr>(?:from )?(?:the )?left[ -]to[ -](?:the )?right|l\.?\s?(?:-|–|to|/)\s?r\.?(?!\w)"
    r"|v\.\s?l\.\s?n\.\s?r\.?|vlnr|von links nach rechts"
    r"|de (?:la )?izquierda a (?:la )?derecha|de izda?\.? a dcha?\.?|de izq\.? a der\.?"
    r"|de gauche [aà] droite|de g\.? [aà] dr?\.?|da sinistra a destra"
    r"|from (?:the )?left|from l(?!\w)|von links|v\.\s?l(?:i?)\.|von li\.|desde la izquierda"
    r"|(?:en partant|[aà] partir) de la gauche|depuis la gauche|da sinistra"
    r"|da esquerda(?: para a direita)?|od lewej(?: do prawej)?"
    r"|fr[åa]n? v[äe]nster(?: till h[öo]ger)?|fra venstre(?: (?:mod|til) h[øo](?:jre|yre))?"
    r"|van links(?: naar rechts)?|soldan(?: sa[ğg]a)?)"
    r"|(?P<rtl>(?:from )?(?:the )?right[ -]to[ -](?:the )?left|r\.?\s?(?:-|–|to|/)\s?l\.?(?!\w)"
    r"|v\.\s?r\.\s?n\.\s?l\.?|von rechts nach links"
    r"|de (?:la )?derecha a (?:la )?izquierda|de droite [aà] gauche|from (?:the )?right"
    r"|von rechts|v\.\s?r(?:e?)\.|desde la derecha|(?:en partant|[aà] partir) de la droite)"
    r")",
    re.IGNORECASE,
)
_AROUND = re.compile(
    r"clockwise|im uhrzeigersinn|sentido de las agujas|sens des aiguilles", re.IGNORECASE
)
_EDGE = re.compile(
    r"(?:\s(?:of|in|on|de|en|sur|im|auf|del|da|della)\s?(?:the |dem |la |l['’]|le |el )?"
    r"(?:picture|photo(?:graph|graphie)?|image|imagen|foto(?:grafía)?|bild|frame|group|grupo))?"
    r"\s*(?:[,.;:)\]\n]|$|(?:and|und|y|e|et|with|mit|con|avec|is|are|was|sowie|neben|next)\b)"
)
_LIST_GAP = re.compile(
    r"(?:[^.;:\n()]|\([^()\n]{0,30}\)|(?<=\b\w)\.|(?<=\b(?:Mr|Dr|Lt|St|Sr|Ms))\.|(?<=\b(?:Mrs"
    r"|Gen|Sen|Rep|Gov|Rev|Col|Sgt|Mme))\.|(?<=Prof)\.|(?<=Capt)\.)*"
)
_ONLY = re.compile(r"\s*(?:[,;]\s*)?(?:and|und|y|e|et|&|\+|i|sowie)?\s*")
_FAMILY = (
    r"\b(?:my )?(?:me|myself|mom|mum|dad|grandma|grandpa|granny|nana|mama|papa|oma|opa|ich|yo"
    r"|mam[áa]|pap[áa]|moi|mamie|papi|papy|maman)(?=\s*(?:,|;|and\b|und\b|y\b|et\b|&|\.|\n))"
)
_NOBODY = re.compile(
    rf"{_FAMILY}|"
    r"\b(?:unknown|unidentified|unbekannt|unbekannte[rn]?|desconocid[oa]|inconnue?"
    r"|sin identificar|n\.n\.)(?:\s(?:man|woman|boy|girl|person))?",
    re.IGNORECASE,
)
_REACH = 60  # characters between a cue and the name it is about
_PARTY = re.compile(PARTY)
# The dot of "Cpl. Robert" ends no list.
_SHORTENED = re.compile(
    rf"\b({'|'.join(sorted(SHORT - {'jr', 'sr'}))})\.(?=\s[A-Z])", re.IGNORECASE
)


def add_cues(text: str, mentions: list[Mention]) -> list[Mention]:
    """Return the mentions with what the text says about their place.

    Examples
    --------
    >>> two = [Mention("Anna", 12, 16), Mention("Tom", 21, 24)]
    >>> [m.cue for m in add_cues("From right: Anna and Tom.", two)]
    [Cue(side='right', place=1, of=2), Cue(side='right', place=2, of=2)]
    """
    text = _PARTY.sub(lambda match: " " * len(match.group()), text)
    text = _SHORTENED.sub(r"\1 ", text)
    found: dict[int, Cue] = {}
    used: list[tuple[int, int]] = []
    for at, mention in enumerate(mentions):
        limit = mentions[at + 1].start if at + 1 < len(mentions) else len(text)
        if hit := _after(text, mention.end, min(limit, mention.end + 2 * _REACH)):
            cue, span = hit
            found[at] = cue
            used.append(span)
    _orders(text, mentions, found, used)
    _ahead(text, mentions, found, used)
    return [replace(m, cue=found[at]) if at in found else m for at, m in enumerate(mentions)]


def _after(text: str, start: int, limit: int) -> tuple[Cue, tuple[int, int]] | None:
    """Return the cue right after a name: in brackets, between commas, or "is on the left"."""
    if match := re.compile(r"(?:['’]s)?\s*,?\s*\(([^()\n]{1,40})\)").match(text, start, limit):
        cue = in_brackets(match[1])
        return (cue, match.span()) if cue else None
    lead = re.compile(
        r"(?P<comma>\s*,\s*(?:(?:seen|pictured|shown|standing|seated|sitting|who is|stehend"
        r"|sitzend)\s+)?)"
        r"|\s+(?:(?:is|stands|sits|was|steht|sitzt|está|est)\s+"
        r"(?:(?:standing|seated|sitting|pictured|shown|seen|the (?:one|man|woman|boy|girl))\s+)?)?"
    ).match(text, start, limit)
    if not lead:
        return None
    for pattern in (_NTH, _SIDES):
        match = pattern.match(text, lead.end(), limit)
        if not match:
            continue
        bare = _WEAK.match(match.group().strip()) is not None
        edge = _EDGE.match(text, match.end()) is not None
        if pattern is _NTH and not bare and (edge or not lead["comma"]):
            return Cue(_side_of(match), _place_of(match)), match.span()
        if edge and (lead["comma"] or not bare) and not _ORDER.match(text, match.start()):
            return Cue(_side_of(match), 1), match.span()
    return None


def _orders(
    text: str, mentions: list[Mention], found: dict[int, Cue], used: list[tuple[int, int]]
) -> None:
    """Add the cues of lists in order: "from left: A, B and C", "A, B and C (L-R)"."""
    starts = [mention.start for mention in mentions]
    blocked = {start for start, _ in used}
    taken: set[int] = set()
    for match in _ORDER.finditer(text):
        nth = _NTH.finditer(text, max(0, match.start() - 20), match.end() + 8)
        counted = any(m.start() < match.start() < m.end() for m in nth)
        around = _AROUND.search(text, max(0, match.start() - 40), match.start())
        if counted or around or match.start() in blocked:
            continue
        side = "left" if match["ltr"] else "right"
        used.append(match.span())
        first = bisect_left(starts, match.end())
        members = _forward(text, mentions, match.end(), first)
        tail = re.compile(r"\s*[)\]]?\s*(?P<mark>[,:])?").match(text, match.end())
        inside = text[max(0, match.start() - 4) : match.start()].rstrip()[-1:] in {"(", "["}
        before = first - 1
        if before >= 0 and re.fullmatch(
            r"(?:['’]s)?\s*,?\s*[(\[]?\s*", text[mentions[before].end : match.start()]
        ):
            if inside or not members or not (tail and tail["mark"] == ","):
                back = _backward(text, mentions, before)
                members = back if len(back) > 1 else members
            else:
                members = [before, *members]
        members = [member for member in members if member not in taken]
        places, size = _count(text, mentions, members, match.end())
        for place, member in zip(places, members, strict=True):
            taken.add(member)
            found.setdefault(member, Cue(side, place, size if size > 1 else None))


def _count(
    text: str, mentions: list[Mention], members: list[int], start: int
) -> tuple[list[int], int]:
    """Return places in a list and its size, counting people that it calls unknown."""
    places, place = [], 0
    for member in members:
        if start <= mentions[member].start:
            place += len(_NOBODY.findall(text, start, mentions[member].start))
        place += 1
        places.append(place)
        start = mentions[member].end
    if members:
        rest = re.compile(
            rf"(?:\s*(?:,|;|and|und|y|et|&)\s*(?:an? |ein )?{_NOBODY.pattern})*", re.I
        )
        tail = rest.match(text, start)
        place += len(_NOBODY.findall(tail.group())) if tail else 0
    return places, place


def _forward(text: str, mentions: list[Mention], start: int, at: int) -> list[int]:
    """Return the mentions of the list that starts after an order."""
    members: list[int] = []
    ended = False
    while at < len(mentions) and not ended:
        gap = text[start : mentions[at].start]
        if len(gap) > _REACH:
            break
        if members:
            joins = re.search(r",|;|\b(?:and|und|y|e|et|i|och|og|en|ve)\b|&|\n", gap)
            whole = _LIST_GAP.fullmatch(gap) or _ONLY.fullmatch(gap)
            row = re.search(r"\brow\b|\breihe\b|\bfila\b|\brang\b", gap)
            if row or not joins or not whole or _ORDER.search(gap):
                break
            ended = re.search(r"\b(?:and|und|y|et)\b", gap) is not None and "," not in gap
        elif re.search(r"[.;\n]\s", re.sub(r"\b[^\W\d_]{1,5}\.", "", gap.strip(" )]:")) + " "):
            break
        members.append(at)
        start = mentions[at].end
        at += 1
    return members


def _backward(text: str, mentions: list[Mention], at: int) -> list[int]:
    """Return the mentions of the list that ends before an order."""
    members = [at]
    while at > 0:
        gap = text[mentions[at - 1].end : mentions[at].start]
        joins = re.match(r"\s*(?:,|and\b|und\b|y\b|et\b|&)", gap)
        if len(gap) > _REACH or not joins or not _LIST_GAP.fullmatch(gap):
            break
        at -= 1
        members.insert(0, at)
    return members


def _ahead(
    text: str, mentions: list[Mention], found: dict[int, Cue], used: list[tuple[int, int]]
) -> None:
    """Add the cues before a name: "Links Anna", "A la derecha, Paco", "Front row: A and B"."""
    starts = [mention.start for mention in mentions]
    covered = sorted([*used, *((m.start, m.end) for m in mentions)])
    begins = [start for start, _ in covered]
    for match in _all_cues(text):
        near = bisect_left(begins, match.end()) - 1
        if near >= 0 and covered[near][1] > match.start():
            continue
        head = text[max(0, match.start() - 5) : match.start()]
        opens = not head[-3:].strip() or head.rstrip()[-1] in ".:;(-–—,"
        joined = re.search(r"\b(?:and|und|y|e|et)\s$", head)
        if not opens and not joined:
            continue
        first = bisect_left(starts, match.end())
        if first == len(mentions):
            break
        gap = text[match.end() : mentions[first].start]
        if len(gap) > _REACH or re.search(r"[.;\n(]\s?|,.*,", re.sub(r"\b\w{1,4}\.", "", gap)):
            continue
        if re.search(r"\b(?:of|de|von|des|du)\s*$", gap) and not re.search(r"[,:]", gap):
            continue
        if _SIDES.search(gap):
            continue  # "rechts Papa, links Jule"
        marked = re.match(r"\s*(?:row)?\s*[:,]", gap) is not None
        cue = match.group()
        small = _WEAK.match(cue.strip()) and re.match("[a-z]", cue)
        if small and not marked and not joined and not _UNMARKED.match(cue):
            continue
        side = _side_of(match)
        shared = _beside(text, mentions, first, listed=":" in gap)
        if not shared and side in {"back", "front", "top", "bottom"}:
            shared = _coupled(text, mentions, first)
        for member in [first, *shared]:
            found.setdefault(member, Cue(side, _place_of(match)))


def _coupled(text: str, mentions: list[Mention], at: int) -> list[int]:
    """Return the second of two who share a row: "hinten Uwe und Petra"."""
    if at + 1 == len(mentions):
        return []
    gap = text[mentions[at].end : mentions[at + 1].start]
    return [at + 1] if re.fullmatch(r"\s(?:and|und|y|e|et|&)\s", gap) else []


def _all_cues(text: str) -> Iterator[re.Match[str]]:
    """Yield all cues in order; of two that overlap the earlier, and of these the longer."""
    found = [*_NTH.finditer(text), *_SIDES.finditer(text)]
    end = 0
    for match in sorted(found, key=lambda match: (match.start(), -match.end())):
        if match.start() >= end:
            end = match.end()
            yield match


def _beside(text: str, mentions: list[Mention], at: int, *, listed: bool) -> list[int]:
    """Return the mentions listed right after one: with a colon before, all share its cue."""
    members: list[int] = []
    while listed and at + 1 < len(mentions):
        gap = text[mentions[at].end : mentions[at + 1].start]
        joins = re.match(r"\s*(?:,|and\b|und\b|y\b|et\b)", gap)
        far = len(gap) > 30 or not joins or re.search(r"[.;:(]\s", gap)
        if far and not _ONLY.fullmatch(gap.split("(")[0]):
            break
        at += 1
        members.append(at)
    return members


def _side_of(match: re.Match[str]) -> str:
    """Return the side that a cue names."""
    groups = match.groupdict()
    sides = ("left", "right", "centre", "back", "front", "top", "bottom")
    return next(side for side in sides if groups.get(side))


def _place_of(match: re.Match[str]) -> int:
    """Return the place that a cue counts from its side; 1 where it counts none."""
    groups = match.groupdict()
    counted = int(groups.get("digit") or 1)
    return next((place for place in _ORDINALS if groups.get(f"o{place}")), counted)


def in_brackets(inside: str) -> Cue | None:
    """Return the cue in the brackets after a name; None where they hold none.

    Examples
    --------
    >>> in_brackets("2nd R"), in_brackets("links"), in_brackets("AP")
    (Cue(side='right', place=2, of=None), Cue(side='left', place=1, of=None), None)
    """
    inside = inside.strip()
    if _ORDER.fullmatch(inside):
        return None
    if match := _NTH.search(inside) or _SHORT.fullmatch(inside):
        return Cue(_side_of(match), _place_of(match))
    sides = list(_SIDES.finditer(inside))
    across = [match for match in sides if _side_of(match) in {"left", "right"}]
    if chosen := (across or sides):
        return Cue(_side_of(chosen[0]), 1)
    for part in inside.split(","):
        if (match := _SHORT.fullmatch(part.strip())) and len(inside) > len(part):
            return Cue(_side_of(match), _place_of(match))
    return None
