"""`ContentView`: a widget that lays out its content for each width and has targets that can be selected."""

import re
from collections.abc import Sequence
from functools import lru_cache

from textual import events, on
from textual.content import Content
from textual.geometry import Size
from textual.style import Style
from textual.widget import Widget
from typing_extensions import override

from roamtui.markdown.surroundings import Part
from roamtui.plain import format_count, sanitise_text
from roamtui.tui.messages import TARGET_META, Target, TargetActivated

_NO_LETTERS = re.compile(r"\W+")
_QUESTION_LINES_MAX = 6
"""A question with a whole pasted page would push its answer out of view."""
_QUESTION_SIGN = Content.styled("❯ ", "bold $secondary")
_SELECTED_STYLE = "$block-cursor-foreground on $block-cursor-background"


class ContentView(Widget):
    """A widget that shows the lines that `draw` returns, and its targets, which keys and clicks choose."""

    def __init__(self) -> None:
        super().__init__()
        self._drawn: tuple[int, list[Content]] | None = None
        """The width and the lines."""
        self.targets: list[Target] = []
        """The targets, in order. `draw` attaches each to its words by its index."""
        self.selected: int | None = None
        """Index of the selected target."""
        self._target_lines: list[range] | None = None
        """The lines of each target, once they are asked for."""
        self.part_starts = [0]
        """First line of each part that may change independently of the others. It is set by `draw`."""

    def on_unmount(self) -> None:
        """Release the drawn lines, because Textual caches the last thousand widgets, even removed ones."""
        self.refresh()

    def select_target(self, index: int | None) -> None:
        """Show a target as selected, or no target for None."""
        self.selected = index
        self.invalidate()

    def attach(self, content: Content, index: int, *, shows_selection: bool = True) -> Content:
        """Return words that belong to the target at this index, and show whether it is selected."""
        linked = content.stylize(Style.from_meta({TARGET_META: index}))
        return linked.stylize(_SELECTED_STYLE) if shows_selection and index == self.selected else linked

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
            self._target_lines = None
        return self._drawn[1]

    def list_target_lines(self) -> list[range]:
        """List the lines of each target."""
        lines = self.lines  # drawing them finds the targets
        if self._target_lines is None:
            found: dict[object, range] = {}
            for number, line in enumerate(lines):
                for span in line.spans:
                    found[span.style] = range(found.get(span.style, range(number, number)).start, number + 1)
            styles = (Style.from_meta({TARGET_META: index}) for index in range(len(self.targets)))
            self._target_lines = [found.get(style, range(1)) for style in styles]
        return self._target_lines

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
    room = max(8, width - Content(str(follow)).cell_length)
    return [(lead if i == 0 else follow) + line for i, line in enumerate(content.wrap(room))]


def draw_parts(parts: Sequence[Part]) -> Content:
    """Draw what a document says around a quote, dim but for the quote's words."""
    content = Content("")
    for part in parts:
        style = "$foreground" if part.is_quoted else "$muted"
        content += Content.styled(part.text, f"{style} strike" if part.is_struck else style)
    return content


def find_line_again(before: Sequence[Content], line: int, after: Sequence[Content]) -> int:
    """Return where a line of a part is after it was drawn again, maybe at another width or folded."""
    left = sum(_count_letters(content) for content in before[: max(0, line)])
    for number, content in enumerate(after if line > 0 else ()):
        if left == 0 and number == line:
            return line
        left -= _count_letters(content)
        if left < 0:
            return number
    return min(line, max(0, len(after) - 1))


def _count_letters(content: Content) -> int:
    return len(_NO_LETTERS.sub("", content.plain))


@lru_cache(maxsize=8)
def _wrap_question(question: str, width: int) -> Sequence[Content]:
    """Wrap a question. A long one would delay each word of its answer if that were not cached."""
    return draw_band(Content.styled(sanitise_text(question), "bold"), width)


def draw_question(question: str, width: int, *, is_whole: bool = False) -> list[Content]:
    """Draw a question, of a long one only the first lines unless all `is_whole`."""
    lines = [*_wrap_question(question, width)]
    if is_long_question(question, width) and not is_whole:
        more = format_count(len(lines) - _QUESTION_LINES_MAX, "more line")
        lines[_QUESTION_LINES_MAX:] = draw_band(Content.styled(f"… {more}", "$muted"), width, lead="  ")
    return lines


def is_long_question(question: str, width: int) -> bool:
    """Return whether a question has more lines than the first ones and one that counts the others."""
    return len(_wrap_question(question, width)) > _QUESTION_LINES_MAX + 1


def draw_band(words: Content, width: int, lead: Content | str = _QUESTION_SIGN) -> list[Content]:
    """Wrap words of a question, and draw a band behind them."""
    lines = wrap(words, max(1, width - 2), lead=lead, follow="  ")
    band = [(" " + line).pad_right(max(1, width - 1 - line.cell_length)) for line in lines]
    return [line.stylize_before("on $surface") for line in band]
