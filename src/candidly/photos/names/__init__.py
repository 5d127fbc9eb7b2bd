"""People named in texts: by rules, by any installed spaCy pipeline, or by both.

1. ``lexicon``: lists of given names, titles, places and everyday words
2. ``tokens``: the words of a text with their spans, sentences and languages, outside credits,
   datelines, quoted titles and links
3. ``labels``: what each capitalised word is: part of a name, a title, a place, a day
4. ``name_candidates``: the words that may be a name
5. ``verdicts``: which candidates are names
6. ``cues``: the places that the text gives to people. ``cue_phrases`` finds the words,
   ``cue_lists`` who is listed in order, ``cue_unnamed`` who has a place there without a name
7. ``shown``: whether the text says that somebody named may not be in the picture
8. ``mentions``: all of this for one text; ``spacy_pipeline`` is a second opinion
9. ``collection``: the names of a whole collection; ``lists``: the user's aliases, allow list and
   never-name list
"""

from candidly.photos.names.collection import People, resolve
from candidly.photos.names.lists import ListError, Lists, Text, read_lists
from candidly.photos.names.mentions import Entity, Finder, find_mentions, mention_model_stamp
from candidly.photos.names.spacy_pipeline import Spacy

__all__ = [
    "Entity",
    "Finder",
    "ListError",
    "Lists",
    "People",
    "Spacy",
    "Text",
    "find_mentions",
    "mention_model_stamp",
    "read_lists",
    "resolve",
]
