"""`Line`: one line of the reader as runs of sanitised text, each with a look. Knows no screen."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Flag, StrEnum, auto

from rich.cells import cell_len

from roamtui.document.plain import plain_text

TAB_WIDTH = 4


class Role(StrEnum):
    """What a run is part of; each has one style in a theme."""

    TEXT = "text"
    H1 = "h1"
    H2 = "h2"
    H3 = "h3"
    H4 = "h4"
    BULLET = "bullet"
    QUOTE = "quote"
    BAR = "bar"
    RULE = "rule"
    GRID = "grid"
    """Lines of a table."""
    HTML = "html"
    NOTE = "note"
    """What the reader itself says: line numbers, languages of code, stand-ins for images."""
    CODE = "code"
    CODE_KEYWORD = "code-keyword"
    CODE_NAME = "code-name"
    CODE_TEXT = "code-text"
    """String literals."""
    CODE_NUMBER = "code-number"
    CODE_COMMENT = "code-comment"


class Emphasis(Flag):
    """What inline marks add to a role."""

    NONE = 0
    STRONG = auto()
    ITALIC = auto()
    STRUCK = auto()
    CODE = auto()


@dataclass(frozen=True, slots=True)
class Look:
    """How a run looks."""

    role: Role = Role.TEXT
    emphasis: Emphasis = Emphasis.NONE
    link: int | None = None
    """Number of its link within the chunk."""


@dataclass(frozen=True, slots=True)
class Run:
    """Text of one look, without a line end."""

    text: str
    look: Look = Look()


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line as it is shown."""

    runs: tuple[Run, ...] = ()
    start: int
    """Offset in the document of the block that it belongs to."""
    end: int
    """Offset after that block."""
    block: int
    """Number of that block within the chunk; the lines of a paragraph, or of one row of a table, share it. A gap's is
    negative."""
    prefix_length: int = 0
    """Characters at its start that are not the document's: indents, bullets, bars."""
    is_code: bool = False
    """Whether its background is the one of code, up to the right edge."""

    @property
    def text(self) -> str:
        """All of its characters."""
        return "".join(run.text for run in self.runs)


def make_run(text: str, look: Look = Look()) -> Run:
    """Return a run of text from a document, safe for a screen."""
    return Run(plain_text(text).replace("\n", " ").replace("\t", " "), look)


def measure_runs(runs: tuple[Run, ...] | list[Run]) -> int:
    """Return the width of runs in cells."""
    return sum(cell_len(run.text) for run in runs)
