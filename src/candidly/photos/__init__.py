"""Captioned photos: faces found, names read, kept in a project file. Needs the extra ``photos``.

The folders are the data flow:

1. ``pictures``: files found, opened upright, recognised by their image data
2. ``captions``: what is written about a photo, in it or beside it
3. ``names``: people named in a text, with what it says of their place
4. ``faces``: faces found and embedded
5. ``project``: the file that keeps it all; ``ingest`` fills it

``album`` draws photos of invented people to try it on.
"""
