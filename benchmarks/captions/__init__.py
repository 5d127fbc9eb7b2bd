"""Captions made up for this project, with labels: to fit and test the model that finds names.

``made_up.jsonl`` has one JSON object per line. The texts are made up; some of their people are well
known, and what is said of them need not be true. Keys:

- ``text``; ``lang``: en, de, es or fr; ``kind``: what sort of caption it is
- ``names``: the people named, in the longest form that the text has, without titles
- ``optional``: neither right nor wrong: people of fiction, families, and people in names of things
- ``inside``: names that are part of the name of a venue, ship, base or institute; ``optional`` too,
  unless the same person is also named as such
- ``credits``: photographers and authors, who are not among ``names``
- ``cues``: name to ``[side, place, of]``, where the text gives a place (``Cue`` of the photos); in
  rows they count within the row, which ``rows`` has as front, middle or back

``pool_labels.jsonl`` has our labels of texts of public pages, which are not in the repository.
``labelled_texts`` reads all texts with labels, ``exchanged_names`` puts other people into them,
``span_fitting`` fits the weights of spans; ``train_tagger``, ``train_mentions`` and
``train_finder`` are commands.
"""
