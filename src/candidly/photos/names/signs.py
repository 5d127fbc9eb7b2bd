"""Words and forms around a name that say what it is: somebody, a place, a prize, a company."""

from __future__ import annotations

import re

CUED = re.compile(
    r"\s*(?:,\s*)?\((?:\d?\w{0,3}[- ]?)?(?:[LRC]|left|right|cent(?:er|re)|links|rechts|mitte"
    r"|l\.|r\.|li\.|re\."
    r"|izq\w*\.?|der\w*\.?|i|d|g|à g\.?|à dr?\.?|gauche|droite|à gauche|à droite|izda\.?|dcha\.?)\)"
    r"|,\s(?:at |far )?(?:left|right|cent(?:er|re)),",
    re.IGNORECASE,
)
# Words after which a lone unknown word is somebody.
COMPANY = frozenset(
    (
        "with by against beside alongside including featuring facing shows show meets meet"
        " beats beat defeats greets hugs kisses congratulates embraces joined helps con avec"
        " mit contra contre junto zeigt muestra montre named called says said told"
    ).split()
)
OF = frozenset("of von de del du d' des di da der".split())
SHOWN = re.compile(
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
OPENERS = frozenset(
    (
        "st saint ste sankt hurricane typhoon cyclone shuttle operation uss hms rms fort lake mount"
    ).split()
)
PRIZES = frozenset({"oscar", "emmy", "tony", "cesar", "edgar", "hugo", "goya", "grammy"})
HOLDERS = frozenset({"an", "a", "his", "her", "their", "its", "first", "second", "best"})
# Spanish says "a" before people, and before places only after verbs of going.
MEETS = re.compile(
    r"(?:gan|venc|venz|derrot|salud|abraz|felicit|entrevist|bes|recib|elimin|acompan|despid|homenaj)"
)
BORN = frozenset(["geb", "geborene", "nee", "née", "born", "geboren", "nacida"])
NAMED = frozenset("is named called namens heisst ist est es llamado appele".split())


DUTCH = frozenset("het een bij tijdens naar tussen voor wordt zijn aan oma's met".split())
GAZES = frozenset("looks smiles waves stares looking smiling waving points yells pointing".split())
SAINTS = frozenset("san santa saint sao santo sankt mount fort".split())
ANDS = frozenset("and und y e et with mit con avec".split())
OWN = frozenset(
    (
        "his her their my our sein seine seiner ihr ihre ihrer mein meine su sus mi mis son sa ses"
        " mon ma mes the la el der die"
    ).split()
)
OURS = frozenset("our unser unsere unserer notre nuestro nuestra".split())
# FleetCenter, YouTube; McCartney, DeNiro, LeBron and ElBaradei are people.
CAMEL = re.compile(
    r"(?!(?:Mc|Mac|De|Di|Du|Da|Le|La|Lo|Van|Von|Vander|Fitz|El|Al|O|St|Jo|Ja|Ro|Del|Della|San|Ten|Ter"
    r"|Abd|Abu|Bin|Ben)[A-Z])[A-Z][a-z]+[A-Z][a-zA-Z]*"
)
WON = frozenset(
    (
        "winner winners winning nominee nominees nominated night party ceremony award awards"
        " statuette gala hopeful hopefuls telecast race gold"
    ).split()
)
# After a name and a comma, these make the next name a place: "his brother Albert, Taranaki, 1910".
DATED = re.compile(
    r"\s*,?\s*\(?(?:c(?:a|irca)?\.?\s?|um\s|vers\s|hacia\s|about\s|in\s|early\s|late\s"
    r"|(?:[Ss]pring|[Ss]ummer|[Aa]utumn|[Ff]all|[Ww]inter|[Ss]ommer|[Hh]erbst|[Vv]erano|[ée]t[ée])\s"
    r"|\d{1,2}\.?\s)?(?:\w{3,9}\.?\s(?:de\s|\d{1,2},\s)?)?(?:1[5-9]|20)\d\d"
)
