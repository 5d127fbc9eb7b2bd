"""What ``candidly demo`` shows, on data that ships with the package.

1. ``digits``: handwritten digits with candidate labels, resolved by several methods
2. ``album``: drawn photos of invented people in ``data/``, and how many names are right
"""
