"""The words that say where somebody is, in English, German, Spanish and French."""

from __future__ import annotations

import re

from candidly.photos.records import Cue

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
NTH = re.compile(
    rf"(?<!\w)(?:the )?(?:{_ANY_ORDINAL})[\s-]*(?:person |man |woman )?(?:{_FROM}\s?)?"
    rf"(?:(?P<left>(?:{_LEFT})\b|(?:l|li|L)\b\.?)|(?P<right>(?:{_RIGHT})\b|(?:r|re|R)\b\.?))",
    re.IGNORECASE,
)
SIDES = re.compile(
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
WEAK = re.compile(
    r"(?:left|right|cent(?:er|re)|front|top|above|below|devant|delante|vorne?|hinten|oben|unten"
    r"|back row|front row|background|foreground|middle|fond|medio|bottom|rear|mitte|centro"
    r"|centre)$",
    re.IGNORECASE,
)
_SHORT = re.compile(
    rf"(?:(?:{_ANY_ORDINAL}|(?P<digit>[1-9]))[\s.-]*)?(?:from |v\.\s?|von |[aà] "
    rf"|a la )?(?:(?P<left>{_LEFT_SHORT})|(?P<right>{_RIGHT_SHORT})|(?P<centre>c\.?|m\.|mi\.))",
    re.IGNORECASE,
)
ORDER = re.compile(
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
AROUND = re.compile(
    r"clockwise|im uhrzeigersinn|sentido de las agujas|sens des aiguilles", re.IGNORECASE
)
EDGE = re.compile(
    r"(?:\s(?:of|in|on|de|en|sur|im|auf|del|da|della)\s?(?:the |dem |la |l['’]|le |el )?"
    r"(?:picture|photo(?:graph|graphie)?|image|imagen|foto(?:grafía)?|bild|frame|group|grupo))?"
    r"\s*(?:[,.;:)\]\n]|$|(?:and|und|y|e|et|with|mit|con|avec|is|are|was|sowie|neben|next)\b)"
)
LIST_GAP = re.compile(
    r"(?:[^.;:\n()]|\([^()\n]{0,30}\)|(?<=\b\w)\.|(?<=\b(?:Mr|Dr|Lt|St|Sr|Ms))\.|(?<=\b(?:Mrs"
    r"|Gen|Sen|Rep|Gov|Rev|Col|Sgt|Mme))\.|(?<=Prof)\.|(?<=Capt)\.)*"
)
ONLY = re.compile(r"\s*(?:[,;]\s*)?(?:and|und|y|e|et|&|\+|i|sowie)?\s*")
_FAMILY = (
    r"\b(?:my )?(?:me|myself|mom|mum|dad|grandma|grandpa|granny|nana|mama|papa|oma|opa|ich|yo"
    r"|mam[áa]|pap[áa]|moi|mamie|papi|papy|maman)(?=\s*(?:,|;|and\b|und\b|y\b|et\b|&|\.|\n))"
)
NOBODY = re.compile(
    rf"{_FAMILY}|"
    r"\b(?:unknown|unidentified|unbekannt|unbekannte[rn]?|desconocid[oa]|inconnue?"
    r"|sin identificar|n\.n\.)(?:\s(?:man|woman|boy|girl|person))?",
    re.IGNORECASE,
)
REACH = 60  # characters between a cue and the name it is about


def side_of(match: re.Match[str]) -> str:
    """The side that a cue names."""
    groups = match.groupdict()
    sides = ("left", "right", "centre", "back", "front", "top", "bottom")
    return next(side for side in sides if groups.get(side))


def place_of(match: re.Match[str]) -> int:
    """The place that a cue counts, from its side; the first where it counts none."""
    groups = match.groupdict()
    counted = int(groups.get("digit") or 1)
    return next((place for place in _ORDINALS if groups.get(f"o{place}")), counted)


def in_brackets(inside: str) -> Cue | None:
    """Read what stands in brackets after a name.

    Examples
    --------
    >>> in_brackets("2nd R"), in_brackets("links"), in_brackets("AP")
    (Cue(side='right', place=2, of=None), Cue(side='left', place=1, of=None), None)
    """
    inside = inside.strip()
    if ORDER.fullmatch(inside):
        return None
    if match := NTH.search(inside):
        return Cue(side_of(match), place_of(match))
    if match := _SHORT.fullmatch(inside):
        return Cue(side_of(match), place_of(match))
    sides = list(SIDES.finditer(inside))
    across = [match for match in sides if side_of(match) in {"left", "right"}]
    if chosen := (across or sides):
        return Cue(side_of(chosen[0]), 1)
    for part in inside.split(","):
        if (match := _SHORT.fullmatch(part.strip())) and len(inside) > len(part):
            return Cue(side_of(match), place_of(match))
    return None
