"""Benchmarks of the photo application.

1. ``newsroom_ingest``: faces found and names read, with the time it takes
2. ``caption_names``: names read from captions; ``caption_positions``: places of people in them
3. ``face_sizes``: which faces are found, on pictures that ``face_canvases`` makes
4. ``newsroom_naming``: names given to faces; ``newsroom_truth`` has the figures
5. ``uncaptioned``: people recognised in photos without captions
6. ``drawn_album``: how well drawn people are found and distinguished
7. ``collection_sizes``: sure names in collections of every size. ``collection_draws`` draws them,
   ``small_albums`` names them end to end, ``gaussian_people`` are not photos at all,
   ``sure_names`` has figures and limits, ``size_tables`` writes both down
8. ``embedder_population``: how faces of SFace vary, the file that comes with Candidly
9. ``review_effort``: how many decisions a collection needs, by the order of questions;
   ``expected_effort``: how many are expected by what is believed
10. ``export_promise``: whether promises about exported names are kept, and intervals of audits
11. ``review_speed``: how fast the review page is on a project that ``large_project`` makes up;
    ``review_screenshots`` takes the pictures of its documentation
12. ``project_scale``: memory and time of such a project: solved, a second day, listed and reviewed

``make photos`` runs the first five, ``make sizes`` the seventh.
"""
