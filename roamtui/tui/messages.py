"""Messages that bubble up to the screen, and what keys and clicks can choose in a text.

A person is told of something in one of four places. What holds until it changes is in the status line. What
concerns an answer or the document, and may be needed later, is a notice in the conversation. What concerns
the input or the work of a dialog is in the dialog. All else is passed to `notify`, and is shown at the foot
of the screen until the next key or click.
"""

from collections.abc import Callable
from dataclasses import dataclass

from msgspec import Struct
from textual.message import Message

from roamtui.conversation.citations import Citation
from roamtui.conversation.state import ConversationState
from roamtui.conversation.update import Command
from roamtui.models.base import Model

TARGET_META = "roamtui_target"
"""The style metadata key of a target's words. The value is the index of the target."""
LINK_META = "roamtui_link"
"""The style metadata key of a link's words. The value is the number of the link."""


class SectionTarget(Struct, frozen=True):
    """A section to jump to, optionally with a quote."""

    section_id: str
    citation: Citation | None = None
    key_sentence: str = ""
    """The sentence to highlight in a quote that may be too long for the view. Empty for the whole quote."""


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


@dataclass
class WorkReported(Message):
    """Background work has news for the status line."""


@dataclass
class NoticeRaised(Message):
    """A sentence to add at the end of the conversation on the screen."""

    words: str


@dataclass
class CommandRequested(Message):
    """A person wants to change the conversation."""

    make_command: Callable[[ConversationState], Command | str]
    """Returns the command for the newest state or, if there is nothing to do, words for the status line."""


@dataclass
class SectionRead(Message):
    """A person reads another section, or none."""

    section_id: str | None


@dataclass
class DocumentRequested(Message):
    """A person wants to open another document. If `source` is empty, they choose it first."""

    source: str = ""
    conversation_id: str | None = None
    """The conversation to resume."""
    place: str | SectionTarget | None = None
    """An anchor, section or quote to show in the document. The person can go back from there."""


@dataclass
class ReturnRequested(Message):
    """A person wants to go back to the document or table that led to this document."""


@dataclass
class ReadingPositionChanged(Message):
    """Another section is at the top of the view."""

    section_id: str


@dataclass
class ModelReleased(Message):
    """A document was closed or got another model. Its old model can be closed if no other uses it."""

    model: Model
