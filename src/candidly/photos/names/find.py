"""The people named in a text, by rules and, where one is given, by a finder such as spaCy."""
