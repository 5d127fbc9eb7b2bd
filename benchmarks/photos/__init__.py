"""Benchmarks of the photo application.

1. ``newsroom_ingest``: faces found and names read, with the time it takes
2. ``caption_names``: names read from captions
3. ``face_sizes``: which faces are found, on pictures that ``face_canvases`` makes
4. ``newsroom_naming``: names given to faces; ``newsroom_truth`` has the figures
5. ``uncaptioned``: people recognised in photos without captions
6. ``drawn_album``: how well drawn people are found and distinguished

``make photos`` runs the first five.
"""
