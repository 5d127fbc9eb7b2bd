"""The page on which a person decides: a server on this machine over one project.

Needs the extras ``photos`` and ``review``.

1. ``access``: one thread that writes to the project, and a few that read
2. ``questions``: which photos to ask about, in what order and by which filters
3. ``photo_view``, ``persons``, ``unnamed``, ``audit_view``, ``log_view``: photos, people, groups of
   faces without a name, the audit and decisions as the page shows them; ``lookalikes`` has known
   people who look like a face
4. ``picture_cache``: photos and faces as JPEG; ``drawing``: a face that no detector found
5. ``jobs``: solving again and other long work, beside the page
6. ``bodies``, ``api``: the JSON API, described by OpenAPI
7. ``guard``: which requests are let in
8. ``server``: everything together, on a port of 127.0.0.1

The page itself is in ``page/``: plain modules of JavaScript, as they are served.
"""
