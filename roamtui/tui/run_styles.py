"""The colours of Markdown in the chat and in the reader."""

from functools import lru_cache

from textual.content import Content
from textual.style import Style

from roamtui.markdown.blocks import Emphasis
from roamtui.markdown.lines import Line, RunStyle, TextRole
from roamtui.tui.messages import LINK_META

_ROLE_STYLES = {
    TextRole.TEXT: "",
    TextRole.H1: "bold $text-primary",
    TextRole.H2: "bold $text-primary",
    TextRole.H3: "bold $text-secondary",
    TextRole.H4: "bold italic",
    TextRole.BULLET: "bold $text-accent",
    TextRole.QUOTE: "italic $text-muted",
    TextRole.BAR: "$accent",
    TextRole.RULE: "$foreground 40%",
    TextRole.GRID: "$foreground 40%",
    TextRole.NOTE: "$text-primary",
    TextRole.TIP: "$text-success",
    TextRole.IMPORTANT: "$text-accent",
    TextRole.WARNING: "$text-warning",
    TextRole.CAUTION: "$text-error",
    TextRole.ASIDE: "italic $foreground 50%",
    TextRole.CODE: "",
    TextRole.CODE_KEYWORD: "$text-accent",
    TextRole.CODE_NAME: "$text-primary",
    TextRole.CODE_STRING: "$text-success",
    TextRole.CODE_NUMBER: "$text-warning",
    TextRole.CODE_COMMENT: "italic $foreground 50%",
}
_LINK_STYLE = "underline $text-accent"
_INLINE_CODE_STYLE = "$text-warning"
_EMPHASIS_STYLES = {Emphasis.STRONG: "bold", Emphasis.ITALIC: "italic", Emphasis.STRUCK: "strike"}
_CODE_BACKGROUND = "on $panel"


def render_run(text: str, style: RunStyle) -> Content:
    """Render text in a style. The words of a link carry its number, for clicks."""
    content = Content(text)
    for markup in list_styles(style):
        content = content.stylize(markup)
    if style.link_number is not None:
        content = content.stylize(Style.from_meta({LINK_META: style.link_number}))
    return content


def render_line(line: Line, width: int) -> Content:
    """Render a line. The background of code is `width` cells wide."""
    content = Content("").join([render_run(run.text, run.style) for run in line.runs])
    return add_code_background(content, width) if line.is_code else content


def add_code_background(content: Content, width: int) -> Content:
    """Add the background of code to a line, up to `width` cells."""
    return content.pad_right(max(0, width - content.cell_length)).stylize_before(_CODE_BACKGROUND)


@lru_cache(maxsize=256)
def list_styles(style: RunStyle) -> tuple[str, ...]:
    """List the styles of a run in Textual's syntax. Later ones override earlier ones."""
    styles = [_ROLE_STYLES[style.role]]
    if Emphasis.CODE in style.emphasis:
        styles.append(_INLINE_CODE_STYLE)
    styles.extend(markup for emphasis, markup in _EMPHASIS_STYLES.items() if emphasis in style.emphasis)
    if style.link_number is not None:
        styles.append(_LINK_STYLE)
    return tuple(filter(None, styles))
