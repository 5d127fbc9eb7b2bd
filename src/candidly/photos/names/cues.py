"""Where a text says that somebody is: "(L)", "second from right", "von links", "à gauche"."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import replace

from candidly.photos.records import Cue, Mention

_ORDINALS = {
    1: r"1st|first|far|extreme|ganz|1\.|erste[rs]?|primer[oa]?|1[ºª°]|premi[eè]re?|1(?:er|re|ère)",
    2: r"2nd|second|2\.|zweite[rs]?|segund[oa]|2[ºª°]|deuxi[eè]me|seconde?|2(?:e|[eè]me|nde?)",
    3: r"3rd|third|3\.|dritte[rs]?|tercer[oa]?|3[ºª°]|troisi[eè]me|3(?:e|[eè]me)",
    4: r"4th|fourth|4\.|vierte[rs]?|cuart[oa]|4[ºª°]|quatri[eè]me|4(?:e|[eè]me)",
    5: r"5th|fifth|5\.|f[uü]nfte[rs]?|quint[oa]|5[ºª°]|cinqui[eè]me|5(?:e|[eè]me)",
    6: r"6th|sixth|6\.|sechste[rs]?|sext[oa]|6[ºª°]|sixi[eè]me|6(?:e|[eè]me)",
}
_LEFT = r"left|links|izquierd[ao]|gauche|sinistra"
_RIGHT = r"right|rechts|derech[ao]|droite|destra"
_LEFT_SHORT = r"l\.?|li\.|lks\.?|izq\.?|izda\.?|i\.?|g\.?"
_RIGHT_SHORT = r"r\.?|re\.|rts\.?|der\.?|dcha\.?|dch\.?|d\.?|dr\.?"
_ANY_ORDINAL = "|".join(f"(?P<o{place}>{form})" for place, form in _ORDINALS.items())
_FROM = (
    r"(?:(?:from|in)(?: the)?|von|v\.|desde la|por la|a partir de la|empezando por la|comenzando por la"
    r"|[aà] partir de la|en partant de la|depuis la|en comptant de la|a|à|de la|da)"
)
# "second from right", "Zweiter von rechts", "2. v. l.", "segundo por la izquierda", "2e à gauche"
_NTH = re.compile(
    rf"(?<!\w)(?:the )?(?:{_ANY_ORDINAL})[\s-]*(?:person |man |woman )?(?:{_FROM}\s?)?"
    rf"(?:(?P<left>(?:{_LEFT})\b|(?:l|li|L)\b\.?)|(?P<right>(?:{_RIGHT})\b|(?:r|re|R)\b\.?))",
    re.IGNORECASE,
)
_SIDES = re.compile(
    rf"(?<!\w)(?:(?:on|at|to|in) (?:the )?(?:far |extreme |top |bottom )?|far |extreme |front |back |top |bottom |ganz |vorne? |hinten |oben |unten "
    rf"|a (?:la |mano )?|en la |[aà] (?:la |l['’]extr[eê]me )?|sur la )?"
    rf"(?:(?P<left>(?:{_LEFT})\b)|(?P<right>(?:{_RIGHT})\b)"
    rf"|(?P<centre>(?:the )?(?:cent(?:er|re)|middle)\b|(?:in der |der )?mitte\b|mittig\b|(?:en (?:el )?)?(?:centro|medio)\b|al centro\b|au (?:centre|milieu)\b)"
    rf"|(?P<back>(?:in the )?(?:background|rear)\b|back row\b|(?:im )?hintergrund\b|hinten\b|hintere reihe\b|(?:al |en el )?fondo\b|detr[aá]s\b|(?:au |[aà] l['’])(?:fond|arri[eè]re(?:-plan)?)\b|fila de atr[aá]s\b)"
    rf"|(?P<front>(?:in the )?foreground\b|front row\b|front\b|(?:im )?vordergrund\b|vorne?\b|vordere reihe\b|(?:en )?primer plano\b|delante\b|au premier (?:plan|rang)\b|devant\b)"
    rf"|(?P<top>(?:at (?:the )?)?top\b|above\b|oben\b|arriba\b|en haut\b)"
    rf"|(?P<bottom>(?:at (?:the )?)?bottom\b|below\b|unten\b|abajo\b|en bas\b))",
    re.IGNORECASE,
)
# Bare words that are cues only between commas or in brackets: "left" is a verb, "front" a noun.
_WEAK = re.compile(r"(?:left|right|cent(?:er|re)|front|top|above|below|devant|delante|vorne?|hinten|oben|unten|back row|front row|background|foreground|middle|fond|medio|bottom|rear|mitte|centro|centre)$", re.IGNORECASE)
_SHORT = re.compile(
    rf"(?:(?:{_ANY_ORDINAL})[\s.-]*)?(?:from |v\.\s?|von |[aà] |a la )?(?:(?P<left>{_LEFT_SHORT})|(?P<right>{_RIGHT_SHORT})|(?P<centre>c\.?|m\.|mi\.))",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"(?<!\w)(?:"
    r"(?P<ltr>(?:from )?(?:the )?left[ -]to[ -](?:the )?right|l\.?\s?(?:-|–|to|/)\s?r\.?(?!\w)|v\.\s?l\.\s?n\.\s?r\.?|vlnr|von links nach rechts"
    r"|de (?:la )?izquierda a (?:la )?derecha|de izda?\.? a dcha?\.?|de izq\.? a der\.?|de gauche [aà] droite|de g\.? [aà] dr?\.?|da sinistra a destra"
    r"|from (?:the )?left|from l(?!\w)|von links|v\.\s?l(?:i?)\.|von li\.|desde la izquierda|(?:en partant|[aà] partir) de la gauche|depuis la gauche|da sinistra)"
    r"|(?P<rtl>(?:from )?(?:the )?right[ -]to[ -](?:the )?left|r\.?\s?(?:-|–|to|/)\s?l\.?(?!\w)|v\.\s?r\.\s?n\.\s?l\.?|von rechts nach links"
    r"|de (?:la )?derecha a (?:la )?izquierda|de droite [aà] gauche|from (?:the )?right|von rechts|v\.\s?r(?:e?)\.|desde la derecha|(?:en partant|[aà] partir) de la droite)"
    r")",
    re.IGNORECASE,
)
_AROUND = re.compile(r"clockwise|im uhrzeigersinn|sentido de las agujas|sens des aiguilles", re.IGNORECASE)
_EDGE = re.compile(r"\s*(?:[,.;:)\]\n]|$|(?:and|und|y|e|et|with|mit|con|avec|is|are|was|sowie|neben|next)\b)")
_LIST_GAP = re.compile(r"(?:[^.;:\n()]|\([^()\n]{0,30}\)|(?<=\b\w)\.|(?<=\b(?:Mr|Dr|Lt|St|Sr|Ms))\.|(?<=\b(?:Mrs|Gen|Sen|Rep|Gov|Rev|Col|Sgt|Mme))\.|(?<=Prof)\.|(?<=Capt)\.)*")
_ONLY = re.compile(r"\s*(?:[,;]\s*)?(?:and|und|y|e|et|&|\+|i|sowie)?\s*")
REACH = 60  # characters between a cue and the name it is about


def _side(match: re.Match[str]) -> str:
    groups = match.groupdict()
    sides = ("left", "right", "centre", "back", "front", "top", "bottom")
    return next(side for side in sides if groups.get(side))


def _place(match: re.Match[str]) -> int:
    groups = match.groupdict()
    return next((place for place in _ORDINALS if groups.get(f"o{place}")), 1)


def in_brackets(inside: str) -> Cue | None:
    """Read what stands in brackets after a name.

    Examples
    --------
    >>> in_brackets("2nd R"), in_brackets("links"), in_brackets("AP")
    (Cue(side='right', place=2, of=None), Cue(side='left', place=1, of=None), None)
    """
    inside = inside.strip()
    if _ORDER.fullmatch(inside):
        return None
    if match := _NTH.search(inside):
        return Cue(_side(match), _place(match))
    if match := _SHORT.fullmatch(inside):
        return Cue(_side(match), _place(match))
    sides = list(_SIDES.finditer(inside))
    across = [match for match in sides if _side(match) in {"left", "right"}]
    if chosen := (across or sides):
        return Cue(_side(chosen[0]), 1)
    for part in inside.split(","):
        if (match := _SHORT.fullmatch(part.strip())) and len(inside) > len(part):
            return Cue(_side(match), _place(match))
    return None


def add_cues(text: str, mentions: list[Mention]) -> list[Mention]:
    """Return the mentions with what the text says of their place.

    Examples
    --------
    >>> two = [Mention("Anna", 12, 16), Mention("Tom", 21, 24)]
    >>> [m.cue for m in add_cues("From right: Anna and Tom.", two)]
    [Cue(side='right', place=1, of=2), Cue(side='right', place=2, of=2)]
    """
    found: dict[int, Cue] = {}
    used: list[tuple[int, int]] = []
    for at, mention in enumerate(mentions):
        limit = mentions[at + 1].start if at + 1 < len(mentions) else len(text)
        if hit := _after(text, mention.end, min(limit, mention.end + 2 * REACH)):
            cue, span = hit
            found[at] = cue
            used.append(span)
    _orders(text, mentions, found, used)
    _ahead(text, mentions, found, used)
    return [replace(m, cue=found[at]) if at in found else m for at, m in enumerate(mentions)]


def _after(text: str, start: int, limit: int) -> tuple[Cue, tuple[int, int]] | None:
    """The cue right after a name: in brackets, between commas, or "is on the left"."""
    if match := re.compile(r"(?:['’]s)?\s*,?\s*\(([^()\n]{1,40})\)").match(text, start, limit):
        cue = in_brackets(match[1])
        return (cue, match.span()) if cue else None
    lead = re.compile(
        r"(?P<comma>\s*,\s*(?:(?:seen|pictured|shown|standing|seated|sitting|who is|stehend|sitzend)\s+)?)"
        r"|\s+(?:(?:is|stands|sits|was|steht|sitzt|está|est)\s+)?"
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
            return Cue(_side(match), _place(match)), match.span()
        if edge and (lead["comma"] or not bare) and not _ORDER.match(text, match.start()):
            return Cue(_side(match), 1), match.span()
    return None


def _orders(
    text: str, mentions: list[Mention], found: dict[int, Cue], used: list[tuple[int, int]]
) -> None:
    """Lists in order: "from left: A, B and C", "A, B and C (L-R)", "A, from left, B and C"."""
    starts = [mention.start for mention in mentions]
    blocked = {start for start, _ in used}
    taken: set[int] = set()
    for match in _ORDER.finditer(text):
        nth = next((m for m in _NTH.finditer(text, max(0, match.start() - 20), match.end() + 8)
                    if m.start() < match.start() < m.end()), None)
        if nth or match.start() in blocked or _AROUND.search(text, max(0, match.start() - 40), match.start()):
            continue
        side = "left" if match["ltr"] else "right"
        used.append(match.span())
        first = bisect_left(starts, match.end())
        members = _forward(text, mentions, match.end(), first)
        tail = re.compile(r"\s*[)\]]?\s*(?P<mark>[,:])?").match(text, match.end())
        inside = text[: match.start()].rstrip()[-1:] in {"(", "["}
        before = first - 1
        if before >= 0 and re.fullmatch(r"(?:['’]s)?\s*,?\s*[(\[]?\s*", text[mentions[before].end : match.start()]):
            if inside or not members or not (tail and tail["mark"] == ","):
                back = _backward(text, mentions, before)
                members = back if len(back) > 1 else members
            else:
                members = [before, *members]
        members = [member for member in members if member not in taken]
        size = len(members) if len(members) > 1 else None
        for place, member in enumerate(members, start=1):
            taken.add(member)
            found.setdefault(member, Cue(side, place, size))


def _forward(text: str, mentions: list[Mention], start: int, at: int) -> list[int]:
    """The mentions of the list that starts after an order."""
    members: list[int] = []
    ended = False
    while at < len(mentions) and not ended:
        gap = text[start : mentions[at].start]
        if len(gap) > REACH:
            break
        if members:
            joins = re.search(r",|;|\b(?:and|und|y|e|et)\b|&|\n", gap)
            whole = _LIST_GAP.fullmatch(gap) or _ONLY.fullmatch(gap)
            if not joins or not whole or _ORDER.search(gap) or re.search(r"\brow\b|\breihe\b|\bfila\b|\brang\b", gap):
                break
            ended = re.search(r"\b(?:and|und|y|et)\b", gap) is not None and "," not in gap
        elif re.search(r"[.;\n]\s", gap.strip(" )]:") + " "):
            break
        members.append(at)
        start = mentions[at].end
        at += 1
    return members


def _backward(text: str, mentions: list[Mention], at: int) -> list[int]:
    """The mentions of the list that ends before an order."""
    members = [at]
    while at > 0:
        gap = text[mentions[at - 1].end : mentions[at].start]
        if len(gap) > REACH or not re.match(r"\s*(?:,|and\b|und\b|y\b|et\b|&)", gap) or not _LIST_GAP.fullmatch(gap):
            break
        at -= 1
        members.insert(0, at)
    return members


def _ahead(
    text: str, mentions: list[Mention], found: dict[int, Cue], used: list[tuple[int, int]]
) -> None:
    """A cue before a name: "Links Anna", "A la derecha, el padrino Paco", "Front row: A and B"."""
    starts = [mention.start for mention in mentions]
    covered = sorted([*used, *((m.start, m.end) for m in mentions)])
    begins = [start for start, _ in covered]
    at = 0
    while match := _next_cue(text, at):
        at = match.end()
        near = bisect_left(begins, match.end()) - 1
        if near >= 0 and covered[near][1] > match.start():
            continue
        head = text[max(0, match.start() - 3) : match.start()]
        opens = not head.strip() or head.rstrip()[-1:] in {".", ":", ";", "(", "\n", "-", "–", "—", ","}
        joined = re.search(r"\b(?:and|und|y|e|et)\s$", text[max(0, match.start() - 5) : match.start()])
        if not opens and not joined:
            continue
        first = bisect_left(starts, match.end())
        if first == len(mentions):
            break
        gap = text[match.end() : mentions[first].start]
        if len(gap) > REACH or re.search(r"[.;\n(]\s?|,.*,", re.sub(r"\b\w{1,4}\.", "", gap)):
            continue
        if re.search(r"\b(?:of|de|von|des|du)\s*$", gap) and not re.search(r"[,:]", gap):
            continue
        marked = re.match(r"\s*(?:row)?\s*[:,]", gap) is not None
        small = _WEAK.match(match.group().strip()) is not None and re.search("[a-z]", match.group()[:1])
        if small and not marked and not joined and not _spoken(match.group()):
            continue
        for member in [first, *_beside(text, mentions, first, listed=":" in gap)]:
            found.setdefault(member, Cue(_side(match), _place(match)))


def _spoken(cue: str) -> bool:
    """German, Spanish and French words that are no verb may stand before a name without a mark."""
    return re.match(r"(?:vorn|hinten|oben|unten|arriba|abajo|detr|delante)", cue, re.IGNORECASE) is not None


def _next_cue(text: str, at: int) -> re.Match[str] | None:
    nth, side = _NTH.search(text, at), _SIDES.search(text, at)
    if nth and side:
        return nth if nth.start() <= side.start() else side
    return nth or side


def _beside(text: str, mentions: list[Mention], at: int, *, listed: bool) -> list[int]:
    """Names listed right after one: with a colon before them, all share the cue."""
    members: list[int] = []
    while listed and at + 1 < len(mentions):
        if not _ONLY.fullmatch(text[mentions[at].end : mentions[at + 1].start].split("(")[0]):
            gap = text[mentions[at].end : mentions[at + 1].start]
            if len(gap) > 30 or not re.match(r"\s*(?:,|and\b|und\b|y\b|et\b)", gap) or re.search(r"[.;:(]\s", gap):
                break
        at += 1
        members.append(at)
    return members
