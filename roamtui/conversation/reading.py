"""What search found, what a model had read when it answered, and what is near a quote that it never read."""

from __future__ import annotations

from msgspec import Struct

from roamtui.text import Span


class SearchHit(Struct, frozen=True, kw_only=True):
    """One result of a search by the agent."""

    section_id: str
    path: tuple[str, ...] = ()
    score: float = 0.0
    why: str = ""
    """How the section was found, for example by its ranks; may be empty."""
    is_read: bool = False
    """Whether the model got more of its text than a line under "also found"."""


class Reading(Struct, frozen=True, kw_only=True):
    """How much of the text a model had read when it answered, and what it had found but not read."""

    whole: int
    """Number of sections that it had read whole."""
    partly: int
    """Number of sections that it had read in part."""
    sections: int
    """Number of sections that are loaded."""
    pages: str = ""
    """How much of a site or folder is loaded, such as "2 of 5 pages"; empty if all of it is."""
    queries: tuple[str, ...] = ()
    """What it searched for, in addition to the question."""
    unread: tuple[SearchHit, ...] = ()
    """Sections that search found and the model did not read, best first."""


class Nearest(Struct, frozen=True, kw_only=True):
    """The words of a document that are most similar to a quote that was not found."""

    text: str
    """In Markdown."""
    span: Span
    is_read: bool
    """Whether the model had read them."""
    is_same: bool = False
    """Whether they are the words of the quote, in a text that the model had not read."""
    place: str = ""
    """Where they are: the section, unless it is the cited one, and the page and the lines."""
