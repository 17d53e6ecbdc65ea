"""What the model did for an answer: searches, sections opened, waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content
from typing_extensions import override

from roamtui.document.plain import plain_line, shorten
from roamtui.tui.chat.content_view import ContentView
from roamtui.tui.chat.targets import SectionTarget, Target, link_target
from roamtui.tui.chat.wrapping import wrap

if TYPE_CHECKING:
    from collections.abc import Iterable

_TITLES_MAX = 12
_THOUGHT_LENGTH = 160
_TITLE_LENGTH = 48


@dataclass(frozen=True, slots=True)
class NamedSection:
    """A section as an activity line names it."""

    section_id: str
    title: str
    note: str = ""
    """Said after the title; may hold words of others."""


@dataclass(frozen=True, slots=True)
class Activity:
    """One line of what the model did."""

    sign: str
    text: str
    """May hold words of the model."""
    sections: tuple[NamedSection, ...] = ()
    style: str = "$muted"


class ActivityView(ContentView):
    """Lists what the model did, oldest first; each section that is named can be jumped to."""

    DEFAULT_CSS = """
    ActivityView { padding: 0 1; color: $muted; }
    """

    def __init__(self, activities: Iterable[Activity] = ()) -> None:
        super().__init__()
        self._activities = list(activities)
        self._thought = ""

    @property
    @override
    def targets(self) -> tuple[Target, ...]:
        return tuple(
            SectionTarget(section.section_id)
            for activity in self._activities
            for section in activity.sections[:_TITLES_MAX]
        )

    @property
    def has_activities(self) -> bool:
        """Whether anything was done yet."""
        return bool(self._activities)

    def add(self, activity: Activity) -> None:
        """Add a line."""
        self._activities.append(activity)
        self._thought = ""
        self.change()

    def show_thought(self, text: str) -> None:
        """Show the end of what the model thinks aloud, until something else happens."""
        self._thought = plain_line((self._thought + text)[-4 * _THOUGHT_LENGTH :])
        self.change()

    def end_thought(self) -> None:
        """Show no longer what the model thought aloud."""
        if self._thought:
            self._thought = ""
            self.change()

    @override
    def lay_out(self, width: int) -> Content:
        lines: list[Content] = []
        index = 0
        for activity in self._activities:
            content = Content.styled(plain_line(activity.text), activity.style)
            shown = activity.sections[:_TITLES_MAX]
            for number, section in enumerate(shown):
                title = Content.styled(shorten(plain_line(section.title), _TITLE_LENGTH) or "untitled", "$foreground")
                content += ": " if number == 0 else ", "
                content += link_target(title, index, is_selected=index == self.selected)
                if section.note:
                    content += Content.styled(f" ({plain_line(section.note)})", "$muted")
                index += 1
            if len(activity.sections) > len(shown):
                content += f" and {len(activity.sections) - len(shown)} more"
            sign = Content.styled(f"{activity.sign} ", "$accent")
            lines += wrap(content, width, lead=sign, follow="  ")
        if self._thought:
            thought = Content.styled(self._thought[-_THOUGHT_LENGTH:], "italic $muted")
            lines += wrap(thought, width, lead=Content.styled("… ", "$accent"), follow="  ")
        return Content("\n").join(lines)
