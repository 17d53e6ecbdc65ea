"""`ContentView`: a widget that lays out its content for each width and has targets that can be selected."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from textual import events, on
from textual.content import Content
from textual.geometry import Size
from textual.style import Style
from textual.widget import Widget
from typing_extensions import override

from roamtui.markdown.quoted_sentence import SentencePart
from roamtui.sanitiser import sanitise_line, sanitise_text
from roamtui.tui.messages import TARGET_META, Target, TargetActivated

if TYPE_CHECKING:  # the first screen does without it
    from roamtui.quotes.nearest import DiffPart

QUESTION_SIGN = Content.styled("❯ ", "bold $secondary")
_NEAREST_STYLE = "$text-secondary"
"""The differences between a false quote and the words of the document that are nearest to it."""
_SELECTED_STYLE = "$block-cursor-foreground on $block-cursor-background"


class ContentView(Widget):
    """A widget that shows the lines that `draw` returns. Keys and clicks choose its targets."""

    def __init__(self) -> None:
        super().__init__()
        self._drawn: tuple[int, list[Content]] | None = None
        """The width and the lines of the last drawing, or None after a change."""
        self.targets: list[Target] = []
        """The targets, in order. `draw` attaches each to its words by its index."""
        self.selected_index: int | None = None
        """Index of the selected target."""
        self.answer_start: int | None = None
        """The number of the empty line before the answer or the passages. None if there is neither."""

    def on_unmount(self) -> None:
        """Release the drawn lines, because Textual caches the last thousand widgets, even removed ones."""
        self.invalidate()

    def select_target(self, index: int | None) -> None:
        """Show a target as selected, or no target for None."""
        self.selected_index = index
        self.invalidate()

    def attach(self, content: Content, index: int, *, shows_selection: bool = True) -> Content:
        """Mark words as those of a target, and highlight them if the target is selected."""
        linked = content.stylize(Style.from_meta({TARGET_META: index}))
        return linked.stylize(_SELECTED_STYLE) if shows_selection and index == self.selected_index else linked

    def draw(self, width: int) -> list[Content]:
        """Draw the content as lines of at most `width` cells."""
        raise NotImplementedError

    def invalidate(self) -> None:
        """Draw the content again after a change."""
        self._drawn = None
        self.refresh(layout=True)

    @property
    def lines(self) -> list[Content]:
        """The lines that are drawn."""
        return self._get_lines(self.size.width)

    def _get_lines(self, width: int) -> list[Content]:
        if self._drawn is None or self._drawn[0] != width:
            self._drawn = (width, self.draw(max(1, width)))
        return self._drawn[1]

    def find_target_lines(self, index: int) -> range:
        """Return the lines of a target, or the first line if none is drawn for it."""
        style = Style.from_meta({TARGET_META: index})
        lines = enumerate(self.lines)
        numbers = [number for number, line in lines if style in (span.style for span in line.spans)]
        return range(numbers[0], numbers[-1] + 1) if numbers else range(1)

    @override
    def render(self) -> Content:
        return Content("\n").join(self.lines)

    @override
    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._get_lines(width))

    @on(events.Click)
    def _choose_clicked(self, event: events.Click) -> None:
        index = event.style.meta.get(TARGET_META)
        if isinstance(index, int) and index < len(self.targets):
            event.stop()
            self.post_message(TargetActivated(self.targets[index]))


def wrap(
    content: Content, width: int, *, lead: Content | str = "", follow: Content | str = ""
) -> list[Content]:
    """Wrap `content` to lines of at most `width` cells. `lead` begins the first line, `follow` all others."""
    room = max(8, width - max(Content(str(each)).cell_length for each in (lead, follow)))
    return [(lead if i == 0 else follow) + line for i, line in enumerate(content.wrap(room))]


def draw_parts(parts: Sequence[SentencePart]) -> Content:
    """Draw the sentence around a quote: dim, except for the quote and the words that it leaves out."""
    content = Content("")
    for part in parts:
        style = "$foreground" if part.is_quoted else "$text-warning" if part.is_left_out else "$muted"
        content += Content.styled(part.text, f"{style} strike" if part.is_struck else style)
    return content


def draw_nearest(place: str, parts: Sequence[DiffPart]) -> Content:
    """Draw the words nearest to a false quote. Words only of the quote are struck, the others are bold."""
    content = Content.styled(sanitise_line(place), "$muted")
    is_replaced = False
    for part in parts:
        style = "$muted"
        gap = " → " if is_replaced and not part.is_in_quote else " "
        if not part.is_in_text:
            style = f"strike {_NEAREST_STYLE}"
        elif not part.is_in_quote:
            style = f"bold {_NEAREST_STYLE}"
        content += Content.styled(gap, "$muted") + Content.styled(sanitise_line(part.words), style)
        is_replaced = not part.is_in_text
    return content


@lru_cache(maxsize=8)
def draw_question(question: str, width: int) -> Sequence[Content]:
    """Draw a question. This is cached, because a long one would delay each word of its answer."""
    return draw_band(Content.styled(sanitise_text(question), "bold"), width)


def draw_band(words: Content, width: int, lead: Content | str = QUESTION_SIGN) -> list[Content]:
    """Wrap words of a question, and draw a band behind them."""
    lines = wrap(words, max(1, width - 2), lead=lead, follow="  ")
    band = [(" " + line).pad_right(max(1, width - 1 - line.cell_length)) for line in lines]
    return [line.stylize_before("on $surface") for line in band]
