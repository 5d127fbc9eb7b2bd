"""People named in texts, each with the probability that the words name a person.

1. ``lexicon``: lists of given names, titles, places and everyday words
2. ``tokens``: the words of a text with their spans, sentences and languages
3. ``token_tagger``: how likely each word is of a person, a place or an organisation; learnt
4. ``reading``: all of that for one text, and its possible names
5. ``span_features``: what speaks for and against each; ``span_model``: how likely it is one; fitted
6. ``cues``: the places that the text gives to people. ``cue_phrases`` finds the words,
   ``cue_lists`` who is listed in order, ``cue_unnamed`` who has a place there without a name
7. ``shown``: whether the text says that somebody named may not be in the picture
8. ``mentions``: all of this for one text; ``spacy_pipeline`` is a second opinion, for the model
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
