"""What to ask a person about, so that few answers settle much.

1. ``joint_answers``: how far an answer about a face settles the others of its photo
2. ``queue``: faces in the order in which a decision settles most
"""

from candidly.photos.reviewing.queue import QueuedFace, review_queue

__all__ = ["QueuedFace", "review_queue"]
