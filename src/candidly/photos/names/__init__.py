"""People named in a text: by rules, by any installed spaCy pipeline, or by both.

1. ``masks``: credits, datelines, quoted titles and links, which name nobody shown
2. ``tokens``: words with their spans, sentences, and each sentence's language
3. ``runs`` and ``labels``: runs of capitalised words, cut at titles, places and days
4. ``rules``: which of them are people; ``headlines`` where capitals say nothing
5. ``cues``: where the text says that they are
6. ``people``, ``spellings``, ``lists``: the names of a whole collection
"""

from candidly.photos.names.find import Entity, Finder, find_mentions
from candidly.photos.names.lists import ListError, Lists, Text, read_lists
from candidly.photos.names.people import People, resolve
from candidly.photos.names.pipeline import Spacy

__all__ = [
    "Entity",
    "Finder",
    "ListError",
    "Lists",
    "People",
    "Spacy",
    "Text",
    "find_mentions",
    "read_lists",
    "resolve",
]
