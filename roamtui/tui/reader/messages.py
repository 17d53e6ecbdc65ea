"""What the reader tells. Imports little: the first screen has no reader yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from textual.message import Message


class ReadingPlace(NamedTuple):
    """Where a person is in a document."""

    section_id: str
    into: int
    """Characters from the beginning of the section to what is at the top of the view; fewer than none above it."""
    file_id: str
    """The file of a folder that it is in, else the section itself."""


@dataclass
class LinkClicked(Message):
    """A link was clicked; its address is as the document has it."""

    href: str


@dataclass
class PlaceChanged(Message):
    """Another section or page has been scrolled to the top of the view, or there is more beside it than before."""

    section_id: str
    page: int | None = None
    """None in a document without pages."""
    sideways: str = ""
    """Signs of where lines in view go on: ``◂``, ``▸`` or both; empty where all is in view."""


@dataclass
class EndPassed(Message):
    """A person wants to scroll beyond the end of the document (1), or its beginning (-1)."""

    direction: int
