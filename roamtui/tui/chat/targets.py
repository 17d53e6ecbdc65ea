"""What the conversation names and a person can choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message
from textual.style import Style

if TYPE_CHECKING:
    from textual.content import Content

    from roamtui.conversation.transcript import Citation

META_KEY = "roamtui_target"
"""Under which a style carries the index of a target, so that a click finds it."""
SELECTED_STYLE = "$block-cursor-foreground on $block-cursor-background"


@dataclass(frozen=True, slots=True)
class SectionTarget:
    """A section to jump to, perhaps with words from it."""

    section_id: str
    citation: Citation | None = None


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """A link that the model wrote: to a section, or to a page that a person must agree to open."""

    href: str
    section_id: str | None = None
    """A section that the answer cites: what the link is relative to."""


@dataclass(frozen=True, slots=True)
class ExampleTarget:
    """A question to try."""

    question: str


@dataclass(frozen=True, slots=True)
class EarlierTarget:
    """Earlier questions, which are not shown yet."""


Target = SectionTarget | LinkTarget | ExampleTarget | EarlierTarget


class TargetChosen(Message):
    """A person has chosen a target."""

    def __init__(self, target: Target) -> None:
        super().__init__()
        self.target = target


def link_target(content: Content, index: int, *, is_selected: bool) -> Content:
    """Return `content` so that a click on it means the target with this index."""
    linked = content.stylize(Style.from_meta({META_KEY: index}))
    return linked.stylize(SELECTED_STYLE) if is_selected else linked
