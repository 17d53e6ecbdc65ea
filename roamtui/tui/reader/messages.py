"""What the reader tells. Imports little: the first screen has no reader yet."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message


@dataclass
class LinkClicked(Message):
    """A link was clicked; its address is as the document has it."""

    href: str


@dataclass
class PlaceChanged(Message):
    """Another section, or another page, has been scrolled to the top of the view."""

    section_id: str
    page: int | None = None
    """None in a document without pages."""


class SidewaysChanged(Message):
    """There is more to the left or right than before, or less."""
