"""Audits: how wrong the names of a project are, and which can be promised, by a few questions.

1. ``sample``: a random order of the names that nobody confirmed, stored with the project
2. ``result``: how wrong they are, by the answers so far
3. ``audit``: the next question, its answer, and what can be promised
"""

from candidly.photos.auditing.audit import Audit, PromisedNames, Question
from candidly.photos.auditing.result import AuditResult, WrongShare

__all__ = ["Audit", "AuditResult", "PromisedNames", "Question", "WrongShare"]
