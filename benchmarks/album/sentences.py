"""The sentences of captions, in four languages; {names} is a list of people."""

from __future__ import annotations

from typing import NamedTuple

EVENTS = (
    "at the harbour festival",
    "during the opening of the new library",
    "after the rehearsal on Friday",
    "at the science fair",
    "before the boat race",
    "at a garden party in Lisbon",
    "during the book fair in Frankfurt, Oct. 14",
    "after the charity run",
    "at the annual flower show",
    "during a visit to the school",
    "at the film premiere in Dublin",
    "ahead of the town meeting",
)
PLAIN = (
    "{names} {event}.",
    "{names}, pictured {event}.",
    "A picture of {names} {event}.",
    "{names} speaking to reporters {event}.",
    "Undated handout of {names}, issued by the organisers.",
)
ABSENT = (
    "{names} was not there.",
    "{names} was expected later.",
    "{names} did not attend.",
    "The prize went to {names} last year.",
)
ABSENT_MANY = ("{names} did not attend.", "{names} were expected later.", "{names} sent greetings.")
MEETING = ("{names} before a meeting with {absent}.", "{names} ahead of talks with {absent}.")
ALONE = {  # one person among several, by place
    "nth": (
        "{name}, {place}, with members of the choir {event}.",
        "{name} ({place}) and other guests {event}.",
        "Visitors listen to {name}, {place}, {event}.",
    ),
    "sides": (
        "{name} ({place}) with a guest {event}.",
        "{name}, {place}, with a colleague {event}.",
    ),
}
ORDERS = (
    "From left: {names} {event}.",
    "{names} (L-R) {event}.",
    "{names}, from left, {event}.",
    "From left to right, {names} {event}.",
)
SIDES = ((" (L)", " (R)"), (", left,", ", right,"), (" (left)", " (right)"))
BACKWARDS = "From right: {names} {event}."
AGAIN = (
    "{surname} thanked everybody who had helped.",
    "{surname} said the day had been a success.",
    '"We start again tomorrow," {surname} said.',
)
NOBODY = (
    "Guests {event}.",
    "People waiting in line {event}.",
    "Some of the volunteers {event}.",
)
CREDITS = (
    "Photo: {who}",
    "(Photo by {who})",
    "REUTERS/{who}",
    "© {who}",
)
PHOTOGRAPHERS = ("Ulla Brandvik", "P. Castellnou", "Ivo Marenzi", "Staff")
TITLES = {
    True: ("Mayor", "Dr.", "Professor", "Judge", "Minister", "Mrs."),
    False: ("Mayor", "Dr.", "Professor", "Coach", "Captain", "Mr."),
}
ORDINALS = ("", "second", "third", "fourth")
UNKNOWN = {True: "an unidentified woman", False: "an unidentified man"}


class Language(NamedTuple):
    """Words of a language: its "and", sentences, an order from the left, and two sides."""

    joint: str
    plain: tuple[str, ...]
    order: str
    left: str
    right: str
    absent: str


LANGUAGES = {
    "de": Language(
        "und",
        (
            "{names} bei einem Empfang in Berlin.",
            "{names} auf dem Sommerfest der Schule.",
            "{names} nach der Probe im Theater.",
        ),
        "Von links nach rechts: {names} bei der Eröffnung der Bibliothek.",
        "links",
        "rechts",
        "{names} war nicht dabei.",
    ),
    "es": Language(
        "y",
        (
            "{names} durante la ceremonia.",
            "{names} en la feria del libro de Sevilla.",
            "{names} después del concierto.",
        ),
        "De izquierda a derecha: {names} en la inauguración de la biblioteca.",
        "izquierda",
        "derecha",
        "{names} no pudo asistir.",
    ),
    "fr": Language(
        "et",
        (
            "{names} pendant la cérémonie.",
            "{names} lors de la fête du village.",
            "{names} à la sortie du concert à Lyon.",
        ),
        "De gauche à droite : {names} lors de l'ouverture de la bibliothèque.",
        "à gauche",
        "à droite",
        "{names} était absent.",
    ),
}
