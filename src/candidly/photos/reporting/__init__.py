"""One HTML page about a project that needs nothing but a browser.

1. ``contents``: what the page shows, and the people of a project, counted
2. ``page``: the page as HTML
3. ``report_file``: faces cut out of the photos, and the file written
"""

from candidly.photos.reporting.contents import PersonCounts, people
from candidly.photos.reporting.report_file import ReportFile, report

__all__ = ["PersonCounts", "ReportFile", "people", "report"]
