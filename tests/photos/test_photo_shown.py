"""What texts say of people who are named and not in the picture."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from candidly.cli import app
from candidly.photos.explaining import explain
from candidly.photos.names import find_mentions
from candidly.photos.names.shown import KINDS, rules_stamp
from candidly.photos.project.queries import caption_records
from candidly.photos.project.store import keep_caption
from candidly.photos.records import Caption
from candidly.photos.solving import candidate_scores, solve
from candidly.photos.solving.problem import read_problems
from made_up import Album, fill


def less(text):
    """Return the people who are less likely shown than a plain mention, by kind."""
    found = defaultdict(set)
    for mention in find_mentions(text):
        kinds = [kind for kind, own in KINDS.items() if own.shown == mention.shown]
        for kind in kinds or (["alone"] if mention.shown < 1 else []):
            found[kind].add(mention.name)
    return dict(found)


# In each, Bob Ray (or another of the second names) is the one who is perhaps not shown.
SAID = {
    "unpictured": [
        "Ann Lee greets Bob Ray (not pictured) in Rome.",
        "Ann Lee, with Bob Ray, not shown, at the table.",
        "Ann Lee smiles. Bob Ray is not in the picture.",
        "Ann Lee at home. Not pictured: Bob Ray",
        "Anna Schmidt lacht. Bob Ray fehlt auf dem Bild.",
        "Anna Schmidt lacht. Auf dem Foto fehlt leider Bob Ray.",
        "Anna Schmidt und Bob Ray (nicht im Bild)",
        "Sophie Martin sourit. Bob Ray ne figure pas sur la photo.",
        "Sophie Martin sourit. Absent sur la photo : Bob Ray",
        "Ana García sonríe. Bob Ray no aparece en la foto.",
        "Ana García sonríe. No aparece: Bob Ray",
    ],
    "absent": [
        "Ann Lee at the party. Bob Ray did not attend.",
        "Ann Lee at the party. Bob Ray couldn\u2019t come.",
        "Ann Lee at the party; Bob Ray was unable to attend.",
        "Ann Lee smiles. Bob Ray, the mayor, was absent from the dinner.",
        "Ann Lee poses without her husband Bob Ray.",
        "Ann Lee receives the prize in the absence of Bob Ray.",
        "Anna Schmidt ohne ihren Mann Bob Ray",
        "Anna Schmidt feiert. Bob Ray konnte leider nicht kommen.",
        "Anna Schmidt feiert. Bob Ray ist abwesend.",
        "Sophie Martin pose sans son mari Bob Ray.",
        "Sophie Martin sourit. Bob Ray était absent.",
        "Sophie Martin sourit. Bob Ray n\u2019a pas pu venir.",
        "Ana García posa sin su marido Bob Ray.",
        "Ana García sonríe. Bob Ray estuvo ausente.",
        "Ana García sonríe. Bob Ray no pudo asistir.",
    ],
    "coming": [
        "Ann Lee before a meeting with President Bob Ray.",
        "Ann Lee smiles ahead of talks with Bob Ray.",
        "Ann Lee trains before her match against Bob Ray.",
        "Ann Lee arrives in Geneva to meet Bob Ray.",
        "Ann Lee on the phone with Bob Ray.",
        "Ann Lee waits. Bob Ray was expected later.",
        "Anna Schmidt vor einem Treffen mit Minister Bob Ray",
        "Anna Schmidt telefoniert mit Bob Ray.",
        "Sophie Martin avant sa rencontre avec Bob Ray",
        "Ana García antes de reunirse con Bob Ray",
    ],
    "past": [
        "Ann Lee leaves after a meeting with Bob Ray.",
        "Anna Schmidt nach dem Gespräch mit Bob Ray",
        "Sophie Martin après son entretien avec Bob Ray",
        "Ana García tras la reunión con Bob Ray",
    ],
    "figure": [
        "Ann Lee beside a statue of Bob Ray.",
        "A wax figure of Bob Ray, admired by Ann Lee.",
        "Ann Lee dressed as Bob Ray.",
        "Anna Schmidt vor der Statue von Bob Ray",
        "Sophie Martin devant la statue de Bob Ray",
        "Ana García junto a la estatua de Bob Ray",
    ],
    "portrait": [
        "Ann Lee holds a portrait of Bob Ray.",
        "Anna Schmidt vor einem Plakat von Bob Ray",
        "Sophie Martin devant un portrait de Bob Ray",
        "Ana García sostiene una foto de Bob Ray",
    ],
    "memory": [
        "Ann Lee at the funeral of Bob Ray.",
        "Ann Lee lights a candle in memory of Bob Ray.",
        "Anna Schmidt am Grab von Bob Ray",
        "Sophie Martin aux obsèques de Bob Ray",
        "Ana García ante la tumba de Bob Ray",
    ],
    "kin": [
        "Ann Lee, wife of President Bob Ray, waves.",
        "The wife of Bob Ray, Ann Lee, smiles.",
        "Bob Ray's younger sister Ann Lee waves.",
        "Anna Schmidt, Tochter von Bob Ray, in Wien",
        "Die Frau von Bob Ray, Anna Schmidt, in Wien",
        "Sophie Martin, épouse de Bob Ray, à Lyon",
        "Ana García, hija de Bob Ray, en Madrid",
    ],
    "crowd": [
        "Fans of Bob Ray wait for Ann Lee.",
        "Bob Ray supporters and Ann Lee in Rome.",
        "Ann Lee, coach of Bob Ray's team, shouts.",
        "Anhänger von Bob Ray warten auf Anna Schmidt.",
        "Sophie Martin et des partisans de Bob Ray",
        "Ana García con seguidores de Bob Ray",
    ],
    "topic": [
        "Ann Lee speaks after Bob Ray said he would go.",
        "Ann Lee at a protest against Bob Ray.",
        "Ann Lee in a film by Bob Ray.",
        "Anna Schmidt spricht, nachdem Bob Ray seinen Abschied ankündigte.",
        "Sophie Martin après la mort de Bob Ray",
        "Ana García tras la renuncia de Bob Ray",
    ],
}


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in SAID.items() for text in texts]
)
def test_words_that_say_that_somebody_may_not_be_shown(kind, text):
    found = less(text)
    same = {other for other in KINDS if KINDS[other].shown == KINDS[kind].shown}
    assert set(found) == same
    assert found[kind] == {"Bob Ray"}


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("Ann Lee, who did not attend, and Bob Ray", {"Ann Lee"}),
        ("Ann Lee did not attend the party, where Bob Ray was seen.", {"Ann Lee"}),
        ("Ann Lee and Bob Ray attend; Cas Dee did not attend.", {"Cas Dee"}),
        ("Ann Lee smiles with Bob Ray and Cas Dee did not attend.", {"Cas Dee"}),
        (
            "Tom Fox. Ann Lee, Bob Ray and Cas Dee did not attend.",
            {"Ann Lee", "Bob Ray", "Cas Dee"},
        ),
        ("Tom Fox with Ann Lee and Bob Ray (both not pictured)", {"Ann Lee", "Bob Ray"}),
        ("Tom Fox with Ann Lee and Bob Ray (not pictured)", {"Bob Ray"}),
        ("Tom Fox. Not pictured: Ann Lee, Bob Ray. Cas Dee smiles.", {"Ann Lee", "Bob Ray"}),
        (
            "Tom Fox before talks with Ann Lee, Bob Ray and Cas Dee",
            {"Ann Lee", "Bob Ray", "Cas Dee"},
        ),
        ("Before talks with Ann Lee, Bob Ray and Cas Dee smile.", {"Ann Lee"}),
        ("Tom Fox waves before talks with Ann Lee, and Bob Ray smiles.", {"Ann Lee"}),
        ("Ann Lee, daughter of Bob Ray and Cas Dee, in Rome", {"Bob Ray", "Cas Dee"}),
        ("The wife of Bob Ray and Ann Lee arrive.", {"Bob Ray"}),
        ("Anna Schmidt (nicht abgebildet: Karl Bauer)", {"Karl Bauer"}),
        ("Ann Lee, whose husband could not come, with Bob Ray", set()),
    ],
)
def test_words_are_said_of_nobody_else(text, absent):
    assert {m.name for m in find_mentions(text) if m.shown < 1} == absent


@pytest.mark.parametrize(
    "text",
    [
        "Ann Lee and her husband Bob Ray",
        "Ann Lee with her mother Bea Ray",
        "Ann Lee meets Bob Ray.",
        "Ann Lee meets with Bob Ray.",
        "Ann Lee during a meeting with Bob Ray",
        "Ann Lee did not win against Bob Ray.",
        "Ann Lee did not speak to Bob Ray.",
        "Ann Lee not only sings with Bob Ray.",
        "Ann Lee did not come alone: Bob Ray came too.",
        "Ann Lee, who did not attend college, with Bob Ray",
        "Ann Lee won without Bob Ray's help.",
        "Ann Lee, supporters and Bob Ray wave.",
        "The father of the bride Bob Ray dances with Ann Lee.",
        "Portrait of Ann Lee, 1890",
        "Ann Lee (L), who did not attend the first day, with Bob Ray (R)",
        "Anna Schmidt fehlt nur ein Sieg gegen Bob Ray.",
        "Karl Bauer und seine Frau Anna Schmidt",
        "Sophie Martin et son mari Bob Ray",
        "Ana García con su marido Bob Ray",
    ],
)
def test_plain_mentions_stay_plain(text):
    assert all((m.shown, m.absence) == (1.0, "") for m in find_mentions(text))


def test_somebody_named_alone_may_be_in_a_picture_from_the_files():
    (alone,) = find_mentions("Ann Lee did not attend.")
    assert (alone.shown, alone.absence) == (KINDS["absent"].alone, "did not attend")


WORDS = (
    "Ann Lee|Bob Ray|Cas Dee|Mr.|and|,|(|)|:|.|did not attend|not pictured|without her husband"
    "|before a meeting with|'s wife|\u2019s|wife of|Frau von|fehlt|ohne|sans|no aparece|\n"
    "|\ue000|\u0130|\u0301|after|said|who|both|absent|statue of|fans|d'|n\u2019a pas pu venir"
)
PIECES = st.sampled_from(WORDS.split("|"))


@given(st.lists(PIECES, max_size=40).map(" ".join))
def test_any_text_gives_chances_and_its_own_words(text):
    for mention in find_mentions(text):
        assert 0 < mention.shown <= 1
        assert (mention.shown < 1) == bool(mention.absence)
        assert mention.absence in text


def test_the_stamp_of_the_rules_follows_what_they_say(monkeypatch):
    before = rules_stamp()
    assert rules_stamp() == before
    monkeypatch.setitem(KINDS, "past", KINDS["past"]._replace(shown=0.45))
    assert rules_stamp() != before


@pytest.fixture
def album(tmp_path):
    album = Album(tmp_path / "project.candidly")
    yield album
    album.project.close()


def say(album, file, text, given=()):
    """Give a photo a caption, read as ingest reads it, its names without a doubt."""
    found = [replace(mention, probability=1.0) for mention in find_mentions(text)]
    with album.project.transaction() as sql:
        (row,) = sql.execute("SELECT id FROM files WHERE path = ?", (file,)).fetchone()
        keep_caption(sql, row, Caption(text, "txt", given=given), found, "rules")


def problem(album):
    (found,) = read_problems(album.project.connection).values()
    return found


def test_a_project_keeps_what_a_text_says(album):
    text = "Ann Lee smiles. Bob Ray did not attend."
    album.add("a.jpg", ["Ann Lee"], [])
    say(album, "a.jpg", text)
    (record,) = caption_records(album.project)
    said = [(m.name, m.shown, m.absence) for m in record.mentions]
    assert said == [("Ann Lee", 1.0, ""), ("Bob Ray", KINDS["absent"].shown, "did not attend")]


def test_a_problem_has_who_is_nowhere_mentioned_plainly(album):
    album.add("a.jpg", ["Ann Lee"], [])
    say(album, "a.jpg", "Ann Lee smiles. Bob Ray and Cas Dee did not attend.")
    absent = KINDS["absent"].shown
    first = problem(album)
    assert first.shown == {"Bob Ray": absent, "Cas Dee": absent}
    say(album, "a.jpg", "Ann Lee smiles. Bob Ray and Cas Dee did not attend.", given=("Cas Dee",))
    assert problem(album).shown == {"Bob Ray": absent}
    say(album, "a.jpg", "Ann Lee and Cas Dee smile. Cas Dee is the wife of Bob Ray.")
    second = problem(album)
    assert second.shown == {"Bob Ray": KINDS["kin"].shown}
    say(album, "a.jpg", "Ann Lee and Cas Dee smile. Cas Dee ist bei Bob Ray.")
    plain = problem(album)
    assert plain.shown == {}
    assert list(plain.names) == list(second.names)
    assert plain.words != second.words  # it is solved again


def test_of_two_spellings_the_plainer_mention_counts(album):
    album.add("a.jpg", ["Ann Lee"], [])
    say(album, "a.jpg", "Ann Lee smiles. Bob Ray and Bob Rey did not attend.")
    likely = {"Bob Rey": "Bob Ray", "Ann Lee": "Anne Lee"}
    assert problem(album).respelled(likely).shown == {"Bob Ray": KINDS["absent"].shown}
    assert problem(album).respelled({"Bob Rey": "Ann Lee"}).shown == {
        "Bob Ray": KINDS["absent"].shown
    }


def test_why_quotes_the_words(album):
    for number in range(4):
        album.add(f"{number}.jpg", ["Ann Lee"], ["Ann Lee"])
        album.add(f"b{number}.jpg", ["Bob Ray"], ["Bob Ray"])
    (face,) = album.add("a.jpg", ["Ann Lee"], [])
    (other,) = album.add("c.jpg", ["Bob Ray"], [])
    for file in ("a.jpg", "c.jpg"):
        say(album, file, "Ann Lee smiles. Bob Ray did not attend.")
    solve(album.project)
    sentence = 'the text says that Bob Ray may not be shown: "did not attend"'
    found = explain(album.project, face)
    assert found.name == "Ann Lee"
    assert [span.absence for span in found.passages[0].spans] == ["", "did not attend"]
    assert not any("may not be shown" in reason for reason in found.reasons)
    (because,) = [one.because for one in found.others if one.name == "Bob Ray"]
    assert because.startswith(sentence)
    album.project.confirm(other, "Bob Ray")
    result = CliRunner().invoke(
        app, ["why", str(face), "--project", str(album.project.path), "--json"]
    )
    spans = json.loads(result.stdout)["passages"][0]["spans"]
    assert [(span["shown"], span["absence"]) for span in spans] == [
        (1.0, ""),
        (KINDS["absent"].shown, "did not attend"),
    ]


def test_absence_lowers_a_name_in_its_own_photo_only(album):
    fill(album)
    (face,) = album.add("a.jpg", ["somebody"], [])
    (elsewhere,) = album.add("b.jpg", ["another"], [])
    say(album, "b.jpg", "Bob Ray smiles.")
    chance = {}
    for text in ("Bob Ray smiles.", "Bob Ray did not attend."):
        say(album, "a.jpg", text)
        solve(album.project, full=True)
        chance[text] = [_chance(album, number, "Bob Ray") for number in (face, elsewhere)]
    (plain, plain_there), (absent, there) = chance.values()
    assert absent < 0.2 < 0.5 < plain
    assert there >= plain_there - 0.01
    (because,) = [one.because for one in explain(album.project, face).others if one.name]
    assert 'may not be shown: "did not attend"' in because
    found = explain(album.project, elsewhere)
    said = [*found.reasons, *(one.because for one in found.others)]
    assert not any("may not be shown" in text for text in said)


def _chance(album, face, name):
    scores = candidate_scores(album.project.connection, face)
    return next(one.probability for one in scores if one.name == name)
