"""What keys and clicks can choose in a text, and the messages that say so."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import Struct
from textual.message import Message

from roamtui.conversation.events import Citation

TARGET_META = "roamtui_target"
"""The style metadata key with the number of a target, such as a link, so that a click finds it."""


class SectionTarget(Struct, frozen=True):
    """A section to jump to, optionally with a quote."""

    section_id: str
    citation: Citation | None = None
    statement: str = ""
    """The words of a long quote that a person looks for."""


class LinkTarget(Struct, frozen=True):
    """A link that the model wrote: to a section, or to a page that opens only after the person confirms."""

    href: str
    section_id: str | None = None
    """A cited section. Relative links are resolved against it."""


class ExampleTarget(Struct, frozen=True):
    """An example question."""

    question: str


Target = SectionTarget | LinkTarget | ExampleTarget


@dataclass
class TargetActivated(Message):
    """The person activated a target."""

    target: Target


@dataclass
class TargetSelected(Message):
    """The person selected a target with a key."""

    target: Target
