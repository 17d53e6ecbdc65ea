"""How lines of Markdown look, in variables that every theme has: as rules of CSS, and as content."""

from __future__ import annotations

from functools import lru_cache

from textual.content import Content

from roamtui.document.markdown.blocks import Emphasis
from roamtui.tui.markdown.line import Look, Role

ROLE_STYLES = {
    Role.TEXT: "",
    Role.H1: "bold $text-primary",
    Role.H2: "bold $text-primary",
    Role.H3: "bold $text-secondary",
    Role.H4: "bold italic",
    Role.BULLET: "bold $text-accent",
    Role.QUOTE: "italic $text-muted",
    Role.BAR: "$accent",
    Role.RULE: "$foreground 40%",
    Role.GRID: "$foreground 40%",
    Role.NOTE: "$text-primary",
    Role.TIP: "$text-success",
    Role.IMPORTANT: "$text-accent",
    Role.WARNING: "$text-warning",
    Role.CAUTION: "$text-error",
    Role.ASIDE: "italic $foreground 50%",
    Role.CODE: "",
    Role.CODE_KEYWORD: "$text-accent",
    Role.CODE_NAME: "$text-primary",
    Role.CODE_TEXT: "$text-success",
    Role.CODE_NUMBER: "$text-warning",
    Role.CODE_COMMENT: "italic $foreground 50%",
}
LINK_STYLE = "underline $text-accent"
_INLINE_CODE_STYLE = "$text-warning"
_EMPHASES = {Emphasis.STRONG: "bold", Emphasis.ITALIC: "italic", Emphasis.STRUCK: "strike"}
_CODE_GROUND = "on $panel"


def write_rule(selector: str, style: str) -> str:
    """Return a rule of CSS with a style."""
    marks, dollar, color = style.partition("$")
    color_rule = f"color: ${color};" if dollar else ""
    return f"{selector} {{ {color_rule} {f'text-style: {marks.strip()};' if marks else ''} }}"


def draw_run(text: str, look: Look) -> Content:
    """Return text as content in its look."""
    content = Content(text)
    for style in _list_styles(look):
        content = content.stylize(style)
    return content


def draw_code_ground(content: Content, width: int) -> Content:
    """Return a line of code on the ground of code, up to the right edge."""
    return content.pad_right(max(0, width - content.cell_length)).stylize_before(_CODE_GROUND)


@lru_cache(maxsize=256)
def _list_styles(look: Look) -> tuple[str, ...]:
    styles = [ROLE_STYLES[look.role]]
    if Emphasis.CODE in look.emphasis:
        styles.append(_INLINE_CODE_STYLE)
    styles.extend(style for emphasis, style in _EMPHASES.items() if emphasis in look.emphasis)
    if look.link is not None:
        styles.append(LINK_STYLE)
    return tuple(filter(None, styles))
