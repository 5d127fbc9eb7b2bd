"""Places of people in captions. Names are in braces, so that only places are at stake."""

import re
import time

import pytest

from candidly.photos.names import find_mentions
from candidly.photos.names.cues import add_cues
from candidly.photos.records import Cue, Mention


def read(marked):
    """Return the cues of the people whose names are in braces, as "side place/of row"."""
    text, mentions, last = "", [], 0
    for match in re.finditer(r"\{(.*?)\}", marked):
        text += marked[last : match.start()]
        mentions.append(Mention(match[1], len(text), len(text) + len(match[1])))
        text += match[1]
        last = match.end()
    found = add_cues(text + marked[last:], mentions)
    return {mention.name: written(mention.cue) for mention in found if mention.cue}


def written(cue):
    return (
        f"{cue.side} {cue.place}"
        + (f"/{cue.of}" if cue.of else "")
        + (f" {cue.row}" if cue.row else "")
    )


def in_order(names, side="left", row=""):
    names = names.split()
    return {
        name: f"{side} {place}/{len(names)}{row and ' ' + row}"
        for place, name in enumerate(names, start=1)
    }


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("(L to R); {Ada Orr}, {Bo Cray} and {Cy Dunn} at the fair.", "Ada Bo Cy"),
        ("{Ada Orr}, {Bo Cray} and {Cy Dunn} (L to R); the fair goes on.", "Ada Bo Cy"),
        ("L-R: {Ada Orr}, {Bo Cray}, {Cy Dunn} at the fair", "Ada Bo Cy"),
        ("(L-R) {Ada Orr} dances with {Bo Cray} and {Cy Dunn} as {Di East} plays", "Ada Bo Cy Di"),
        ("Pictured left to right are {Ada Orr}, {Bo Cray} and {Cy Dunn}.", "Ada Bo Cy"),
        ("{Ada Orr} and {Bo Cray}, pictured left to right, open the fair.", "Ada Bo"),
        ("from left, {Ada Orr}, {Bo Cray} and {Cy Dunn} watch a game with {Ed Fox}", "Ada Bo Cy"),
        ("{Ada Orr}, from left, {Bo Cray} and {Cy Dunn} meet {Ed Fox}.", "Ada Bo Cy"),
        ("{Ada Orr}, {Bo Cray} and {Cy Dunn}, from left, meet {Ed Fox}.", "Ada Bo Cy"),
        ("{Ada Orr}, {Bo Cray} and {Cy Dunn} (from left) meet {Ed Fox}.", "Ada Bo Cy"),
        (
            "A toast. From left: {Ada Orr}, town clerk of Hillby; {Bo Cray}; {Cy Dunn}, "
            "roads director; Commissioner {Di East}; Mayor {Ed Fox}; and {Flo Gray}, head of "
            "the Harbour Board.",
            "Ada Bo Cy Di Ed Flo",
        ),
        (
            "L-R: Director, Public Affairs, Southern Region, Mr. {Ada Orr}; Lead, Brands, Ms. "
            "{Bo Cray}; President, Chess Union (CU), Dr. {Cy Dunn} and Head, Sales, Mr. {Di East} "
            "at the opening in Hillby.",
            "Ada Bo Cy Di",
        ),
        ("(L-R) {Ada Orr}, Clerk; {Bo Cray}, Clerk/Registrar; {Cy Dunn}, Clerk", "Ada Bo Cy"),
        ("Mayor {Ada Orr} (from left), Rep. {Bo Cray} (R-Ohio) and {Cy Dunn} wait.", "Ada Bo Cy"),
        ("From left: {Ada Orr} (7), {Bo Cray} (22), and {Cy Dunn}, 9, run.", "Ada Bo Cy"),
        ("From left: {Ada Orr}\n{Bo Cray}\n{Cy Dunn}", "Ada Bo Cy"),
        ("From left, {Ada Orr}, wife of {Zoe Hill}, {Bo Cray} and {Cy Dunn}.", "Ada Bo Cy"),
        ("Freuen sich: Dr. {Ada Orr} (v.l.; Werft), {Bo Cray} (IHK) und {Cy Dunn}.", "Ada Bo Cy"),
        ("Drei vom Verein mit {Ada Orr} (von links), {Bo Cray} und {Cy Dunn}. /", "Ada Bo Cy"),
        ("Im Hafen lachen {Ada Orr}, {Bo Cray} und {Cy Dunn} (v.l.) um die Wette.", "Ada Bo Cy"),
        ("Der Chor (v. li.): Leiter der Gruppe {Ada Orr}, {Bo Cray} und {Cy Dunn}", "Ada Bo Cy"),
        (
            "Besuch der Werft (v.l.n.r.): Der Vorsitzende der Werft AG {Ada Orr}, Ministerin "
            "{Bo Cray} und der Leiter der Bank AG {Cy Dunn} vor dem Schiff. © Werft",
            "Ada Bo Cy",
        ),
        ("Von links: Bgm. {Ada Orr}, Mag. {Bo Cray} sowie {Cy Dunn}", "Ada Bo Cy"),
        ("{Ada Orr} im Gespräch mit {Bo Cray} (v.l.) am Rande der Messe", "Ada Bo"),
        ("Empezando por la izquierda; {Ada Orr}, {Bo Cray} Jr. y {Cy Dunn}, ganan.", "Ada Bo Cy"),
        ("Desde la izda., {Ada Orr}, {Bo Cray}, jefe de obra; la jueza {Cy Dunn}", "Ada Bo Cy"),
        ("{Ada Orr}, {Bo Cray} y {Cy Dunn} (de izquierda a derecha en la foto)", "Ada Bo Cy"),
        ("De izquierda a derecha: {Ada Orr} y {Bo Cray} junto a {Ed Fox}, que viaja", "Ada Bo"),
        ("De gauche à droite : {Ada Orr}, maire, {Bo Cray} et {Cy Dunn}.", "Ada Bo Cy"),
        ("{Ada Orr}, {Bo Cray} et {Cy Dunn} (de g. à dr.) avec {Ed Fox}", "Ada Bo Cy"),
        ("Da sinistra: {Ada Orr}, {Bo Cray} e {Cy Dunn}", "Ada Bo Cy"),
        ("Seen from left to right are: {A}, commander; {B}, pilot; and {C} Jr., pilot.", "A B C"),
        ("From left: Lt. Gen. {A}, III Corps; Command Sgt. Maj. {B} and Dr. {C} salute", "A B C"),
        ("Speaker {Z}, joined by, from left, Rep. {A}, Rep. {B} and {C}, meets us", "A B C"),
        ("Joined from left by Sen. {A}, Sen. {B}, and Sen. {C}, Leader {Z} speaks", "A B C"),
        ("From left: Reps. {A}, R-Ohio, {B}, D-Calif., and {C}, R-Texas, listen", "A B C"),
        ("From left: {A}, St. Louis; {B}, Ft. Worth; {C}, Mt. Airy.", "A B C"),
        ("From left, {A} and her husband {B}, {C}, and {D} and {E}", "A B C D E"),
        ("From left, {A} and {B} of Boston and {C} and {D} of Maine", "A B C D"),
        ("{Z} poses with (L-R) {B}, {C} and {D}", "B C D"),
        ("{Z} with her kids, from left, {B}, {C} and {D}", "B C D"),
        ("From left: {A}; {B}, wife of {Z}; {C}, son of Mayor {Y}; and {D}", "A B C D"),
        ("(L-R) {A} and {B} attend the party hosted by {Z} in Rome", "A B"),
        ("Left to right: First place, {A}; second place, {B}; third place, {C}.", "A B C"),
        ("Club leaders from (L): {A}, governor {B} and MP {C} at a party", "A B C"),
        ("{A} -- {B} -- {C} (left to right)", "A B C"),
        ("Shown from left at the opening are {A}, {B} and {C}.", "A B C"),
        ("V.l.n.r. auf dem Bild: {A}, {B} und {C}", "A B C"),
        ("L-R: {A}, clerk; {B}, judge; {C}, mayor; courtesy of the city", "A B C"),
        ("LEFT TO RIGHT: {A} / {B} / {C}", "A B C"),
        ("Die Minister {A} (l-r, SPD), {B} (CDU) und {C} (CSU) reden", "A B C"),
        ("Es freuen sich {A}, {B} und Bürgermeister {C} (alle v.l.)", "A B C"),
        ("Von links: {A}, {B} und {C} vor dem Rathaus in Rom", "A B C"),
        ("Por la izquierda, {A}, {B} y {C} posan", "A B C"),
        ("De izquierda a derecha, el alcalde, {A}; {B}, y el director, {C}, ayer.", "A B C"),
    ],
)
def test_lists_in_order_are_counted_from_the_left(text, names):
    found = {name.split()[0]: cue for name, cue in read(text).items()}
    assert found == in_order(names)


def test_people_without_a_name_keep_their_place_in_a_list():
    assert read("From left: {Ann}, an unidentified aide, {Bob}") == {
        "Ann": "left 1/3",
        "Bob": "left 3/3",
    }
    assert read("From left: unknown, {Ann}, his wife and {Bob}.") == {
        "Ann": "left 2/4",
        "Bob": "left 4/4",
    }
    assert read("From left: {Ann}, {Bob} and two unidentified men") == {
        "Ann": "left 1/4",
        "Bob": "left 2/4",
    }
    assert read("From left: {Ann}, his wife, {Bob}, a lawyer, and {Cas}") == in_order("Ann Bob Cas")


@pytest.mark.parametrize(
    "text",
    [
        "L-R: {Ann}, Xiq Qorra, {Cas} and {Dan}",
        "From left: {Ann}, Luxembourg's Xiq Qorra, 21, {Cas} and {Dan}.",
        "Von links: {Ann} (SPD), der Leiter der Werft AG Xiq Qorra (CDU), {Cas}, {Dan}",
        "From left: {Ann}, clerk; Xiq Qorra, mayor of Hillby; {Cas}, judge; {Dan}",
        "{Ann}, Xiq Qorra Jr., {Cas} and {Dan}, from left, sing",
    ],
)
def test_somebody_whose_name_was_not_found_keeps_the_place(text):
    assert read(text) == {"Ann": "left 1/4", "Cas": "left 3/4", "Dan": "left 4/4"}


@pytest.mark.parametrize(
    "text",
    [
        "The singers Xiq Qorra, {Bob} and {Cas} (from left) smile",
        "Es freuen sich Xiq Qorra (v.l.; Werft), {Bob} (IHK) und {Cas}.",
        "From left: Xiq Qorra, {Bob} and {Cas}",
    ],
)
def test_the_first_counts_also_where_the_name_was_not_found(text):
    assert read(text) == {"Bob": "left 2/3", "Cas": "left 3/3"}


def test_the_last_counts_also_where_the_name_was_not_found():
    assert read("From left: {Ann}, {Bob} and Xiq Qorra at the fair") == {
        "Ann": "left 1/3",
        "Bob": "left 2/3",
    }
    assert read("{Ann}, {Bob} und Xiq Qorra (v.l.) am Hafen") == {
        "Ann": "left 1/3",
        "Bob": "left 2/3",
    }


@pytest.mark.parametrize(
    "text",
    [
        "From left: {Ann}, Vice President Sales, {Bob} and {Cas} on Main Street",
        "From left, {Ann}, Acme Corp, {Bob}, Team Sky, and {Cas}, New York Times",
        "In Costa Mesa, {Ann}, from left, {Bob} and {Cas} at Camp David",
        "At Royal Albert Hall, {Ann}, {Bob} and {Cas} (from left)",
        "De izquierda a derecha: {Ann}, Partido Popular, {Bob} y {Cas}",
    ],
)
def test_offices_teams_and_towns_take_no_place(text):
    assert read(text) == in_order("Ann Bob Cas")


def test_two_lists_of_one_caption_are_two():
    text = "From left: {Ann} and {Bob}. Below, from right: {Cas}, {Dan} and {Eve}."
    assert read(text) == in_order("Ann Bob") | in_order("Cas Dan Eve", "right", "front")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{Ann} (left) and {Bob}", {"Ann": "left 1"}),
        ("{Ann} (left) with {Bob} (right)", {"Ann": "left 1", "Bob": "right 1"}),
        ("{Ann}, left, and {Bob}, right, wait", {"Ann": "left 1", "Bob": "right 1"}),
        ("{Ann}, far left, and {Bob}, center", {"Ann": "left 1", "Bob": "centre 1"}),
        ("Fans see {Ann} (C) run", {"Ann": "centre 1"}),
        ("{Ann}, 3rd from left, and {Bob} (2nd L)", {"Ann": "left 3", "Bob": "left 2"}),
        ("{Ann}, second from left in back row, and {Bob}", {"Ann": "left 2 back"}),
        ("{Ann} (back row, third from right)", {"Ann": "right 3 back"}),
        ("{Ann}'s (left) team lost", {"Ann": "left 1"}),
        ("{Ann} of Hillby (right) runs", {"Ann": "right 1"}),
        ("{Ann} (SV Hafen, r.), links {Bob} (SV Hafen)", {"Ann": "right 1", "Bob": "left 1"}),
        ("Kai ({Ann}, l.), Lara ({Bob}) und Tom ({Cas})", {"Ann": "left 1"}),
        ("{Ann} (2.v.r.) und {Bob} (3. v. li.)", {"Ann": "right 2", "Bob": "left 3"}),
        ("{Ann} (Mitte) und {Bob} (M.)", {"Ann": "centre 1", "Bob": "centre 1"}),
        ("{Ann}, rechts im Bild, jubelt", {"Ann": "right 1"}),
        ("Die Feier. Im Hintergrund {Ann}", {"Ann": "back 1"}),
        ("{Ann} segundo a la derecha", {"Ann": "right 2"}),
        ("Visita de {Ann} a Madrid (primera por la derecha).", {"Ann": "right 1"}),
        ("{Ann} (izda.) y {Bob} (dcha.)", {"Ann": "left 1", "Bob": "right 1"}),
        ("{Ann} (à gauche), à droite, {Bob}", {"Ann": "left 1", "Bob": "right 1"}),
        ("La fête ; au centre, le maire {Ann}", {"Ann": "centre 1"}),
        ("Top left: {Ann}", {"Ann": "left 1 back"}),
        ("{Ann}, top, tackles {Bob}", {"Ann": "top 1"}),
        ("{Ann} of Hill, left, and {Bob}, 43, right, wave", {"Ann": "left 1", "Bob": "right 1"}),
        ("{Ann}, head of the zoo, left, and {Bob} (8), right", {"Ann": "left 1", "Bob": "right 1"}),
        ("{Ann} (pictured left) and {Bob} [right]", {"Ann": "left 1", "Bob": "right 1"}),
        ("LEFT: {Ann} RIGHT: {Bob}", {"Ann": "left 1", "Bob": "right 1"}),
        ("{Ann} - left - and {Bob}", {"Ann": "left 1"}),
        ("{Ann} (CDU, M) mit {Bob} (7.v.l.)", {"Ann": "centre 1", "Bob": "left 7"}),
        ("{Ann} (G) et {Bob} (D) à l'Élysée", {"Ann": "left 1", "Bob": "right 1"}),
        ("À gauche, {Ann}, à droite, {Bob}.", {"Ann": "left 1", "Bob": "right 1"}),
        ("Vorne von links: {A}, {B}; dahinter {C}", in_order("A B", row="front") | {"C": "back 1"}),
    ],
)
def test_a_place_is_given_to_the_one_it_is_said_of(text, expected):
    assert read(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "{Ann Lee} (9) and {Bob Ray} (23) in the first half",
        "{Ann Lee} left the building right after {Bob Ray} spoke",
        "Sen. {Ann Lee} (D) and the voters of {Bob Ray} (R)",
        "{Ann Lee}, leader of the far right, with far right activist {Bob Ray}",
        "{Ann Lee} (Linke) und {Bob Ray} (AfD)",
        "People walk past a tower (right) and a church (left), where {Ann Lee} sings.",
        "Clockwise from top left: {Ann Lee}, {Bob Ray}, {Cas Day}",
        "From left, clockwise: {Ann Lee}, {Bob Ray}",
        "{Ann Lee} scored from left field on a double by {Bob Ray}",
        "A ball flies from left to right past {Ann Lee}",
        "{Ann Lee} stands with {Bob Ray}, seated, in Rome",
        "Jardinero izquierdo {Ann Lee} y la derecha de {Bob Ray}",
        "Left back {Ann Lee} and right-winger {Bob Ray} train at the centre",
        "Le candidat de la droite {Ann Lee} devant {Bob Ray}",
        "{Ann Lee} flankt von links auf {Bob Ray}",
        "{Ann Lee} (c) Foto Meier",
        "Top seed {Ann Lee} and Center {Bob Ray}",
        "Middle Earth {Ann Lee}",
        "{Ann Lee} is right: {Bob Ray} left him",
    ],
)
def test_what_is_no_place_gives_none(text):
    assert read(text) == {}


@pytest.mark.parametrize(
    "text",
    [
        "Front row from left: {Ann}, {Bob}; back row: {Cas}, {Dan}, {Eve}.",
        "Front row (l-r): {Ann}, {Bob}. Back row (l-r): {Cas}, {Dan} and {Eve}.",
        "From left, front row: {Ann} and {Bob}; back row: {Cas}, {Dan} and {Eve}",
        "Seated, from left: {Ann} and {Bob}. Standing: {Cas}, {Dan} and {Eve}.",
        "The team. Kneeling from left are {Ann} and {Bob}; standing are {Cas}, {Dan} and {Eve}.",
        "(Seated, left to right) {Ann}, {Bob} (standing) {Cas}, {Dan}, {Eve}",
        "Vorne v.l.: {Ann}, {Bob}; hinten: {Cas}, {Dan} und {Eve}",
        "Untere Reihe v. l.: {Ann} und {Bob}, obere Reihe v. l.: {Cas}, {Dan}, {Eve}",
        "Sitzend von links: {Ann}, {Bob}. Stehend von links: {Cas}, {Dan}, {Eve}",
        "Agachados, de izquierda a derecha: {Ann}, {Bob}. De pie: {Cas}, {Dan} y {Eve}.",
        "Assis, de gauche à droite : {Ann} et {Bob}. Debout : {Cas}, {Dan} et {Eve}.",
        "Left to right: Front row - {Ann}, {Bob}. Back row - {Cas}, {Dan}, {Eve}",
        "Vorne v.l. {Ann}, {Bob}, hinten v.l. {Cas}, {Dan}, {Eve}",
        "{Ann}, {Bob} (front row, from left), {Cas}, {Dan}, {Eve} (back row, from left)",
        "1re rangée, de gauche à droite : {Ann}, {Bob}; 2e rangée : {Cas}, {Dan}, {Eve}",
    ],
)
def test_people_in_rows_are_counted_within_their_row(text):
    assert read(text) == in_order("Ann Bob", row="front") | in_order("Cas Dan Eve", row="back")


def test_three_rows_have_a_middle():
    text = "From left, kneeling: {Ann}, {Bob}; seated: {Cas}, {Dan}; standing: {Eve}, {Flo}"
    rows = in_order("Ann Bob", row="front") | in_order("Cas Dan", row="middle")
    assert read(text) == rows | in_order("Eve Flo", row="back")


def test_a_row_without_an_order_counts_nobody():
    text = "Front row: {Ann}, {Bob}. Back row: {Cas}"
    assert read(text) == {"Ann": "front 1 front", "Bob": "front 1 front", "Cas": "back 1 back"}


@pytest.mark.parametrize(
    "piece",
    [
        "{A}, {B}, (left ",
        "from left: {A}, ",
        "{A} (v.l., ",
        "front row, ",
        "second from ",
        "{A}, an unidentified ",
        "(left) ",
        "{A} and ",
        "top left (",
        ". A",
    ],
)
def test_a_long_text_is_read_in_linear_time(piece):
    read(piece)  # the word lists are read on first use
    started = time.perf_counter()
    read(piece * (200_000 // len(piece)))
    assert time.perf_counter() - started < 8  # 1 s on a free machine; quadratic work takes hours


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Tony Blair (L) and Hans Blix (R)",
            {"Tony Blair": Cue("left"), "Hans Blix": Cue("right")},
        ),
        ("Tony Blair, second from right, waves", {"Tony Blair": Cue("right", 2)}),
        (
            "Akio Suda (2nd R) and Hans Blix (C)",
            {"Akio Suda": Cue("right", 2), "Hans Blix": Cue("centre")},
        ),
        (
            "From left: Unknown, Elsie Barlow and Rev. J. T. Hodge",
            {"Elsie Barlow": Cue("left", 2, 3), "J. T. Hodge": Cue("left", 3, 3)},
        ),
        (
            "Ben Affleck, Uma Thurman und Eva Herz (v.l.n.r.)",
            {
                "Ben Affleck": Cue("left", 1, 3),
                "Uma Thurman": Cue("left", 2, 3),
                "Eva Herz": Cue("left", 3, 3),
            },
        ),
        (
            "Ben Affleck, from left, Uma Thurman and Eva Herz",
            {
                "Ben Affleck": Cue("left", 1, 3),
                "Uma Thurman": Cue("left", 2, 3),
                "Eva Herz": Cue("left", 3, 3),
            },
        ),
        ("Louis van Gaal, Zweiter von rechts, lacht", {"Louis van Gaal": Cue("right", 2)}),
        ("Links Steffi, in der Mitte Jonas", {"Steffi": Cue("left"), "Jonas": Cue("centre")}),
        (
            "A la izquierda, la tía Merche; a la derecha, Paco.",
            {"Merche": Cue("left"), "Paco": Cue("right")},
        ),
        ("Ana Palacio, a la derecha, en Bruselas", {"Ana Palacio": Cue("right")}),
        (
            "À gauche tonton Gilles, à droite Nathalie Boucher",
            {"Gilles": Cue("left"), "Nathalie Boucher": Cue("right")},
        ),
        ("Camille Dupré (2e à partir de la gauche)", {"Camille Dupré": Cue("left", 2)}),
        (
            "De gauche à droite : Luc Plamondon et Céline Dion",
            {"Luc Plamondon": Cue("left", 1, 2), "Céline Dion": Cue("left", 2, 2)},
        ),
        ("Kofi Annan, D-Mass., center, speaks", {"Kofi Annan": Cue("centre")}),
        ("El Rey Felipe VI (2i) sonríe", {"Rey Felipe VI": Cue("left", 2)}),
        ("Rafa Nadal, en el centro de la imagen, ríe", {"Rafa Nadal": Cue("centre")}),
        ("Rechts Papa, links Jule", {"Jule": Cue("left")}),
        ("hinten Uwe und Petra", {"Uwe": Cue("back"), "Petra": Cue("back")}),
        ("Anna Lindh, till höger, i Stockholm", {"Anna Lindh": Cue("right")}),
        ("Orville Wright is standing at left.", {"Orville Wright": Cue("left")}),
        (
            "From left: Mom, Grandpa Joe and Eddie",
            {"Joe": Cue("left", 2, 3), "Eddie": Cue("left", 3, 3)},
        ),
        ("Tony Blair left Downing Street. Hans Blix was right.", {}),
        ("Clockwise from top left: Tony Blair, Hans Blix", {}),
    ],
)
def test_people_who_are_found_get_their_places(text, expected):
    assert {m.name: m.cue for m in find_mentions(text) if m.cue} == expected
