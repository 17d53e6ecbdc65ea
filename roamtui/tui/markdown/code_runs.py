"""Colours code by Pygments. Knows no screen."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from roamtui.document.plain import plain_text
from roamtui.tui.markdown.line import TAB_WIDTH, Look, Role, Run

if TYPE_CHECKING:
    from pygments.lexer import Lexer  # type: ignore[import-untyped]

_COLOURED_LENGTH_MAX = 20_000
"""Characters; lexing more would be felt while scrolling."""
_NAME_LENGTH_MAX = 40
_ROLES = (
    ("Comment", Role.CODE_COMMENT),
    ("Keyword", Role.CODE_KEYWORD),
    ("Operator.Word", Role.CODE_KEYWORD),
    ("Name.Function", Role.CODE_NAME),
    ("Name.Class", Role.CODE_NAME),
    ("Name.Tag", Role.CODE_KEYWORD),
    ("Name.Attribute", Role.CODE_NAME),
    ("Name.Builtin", Role.CODE_NAME),
    ("Name.Decorator", Role.CODE_NAME),
    ("Literal.String", Role.CODE_TEXT),
    ("Literal.Number", Role.CODE_NUMBER),
    ("Generic.Deleted", Role.CODE_NUMBER),
    ("Generic.Inserted", Role.CODE_TEXT),
)


def colour_code(code: str, language: str) -> list[list[Run]]:
    r"""Return the lines of `code` as runs, sanitised, in plain looks where the language is unknown.

    Args:
        code: With ``\\n`` as its line ends; the one at its end begins no further line.
        language: First word of a fence's info string.
    """
    safe = "\n".join(line.expandtabs(TAB_WIDTH) for line in plain_text(code).removesuffix("\n").split("\n"))
    lexer = _find_lexer(language.lower()[:_NAME_LENGTH_MAX]) if len(safe) <= _COLOURED_LENGTH_MAX else None
    plain = [[Run(line, Look(Role.CODE))] if line else [] for line in safe.split("\n")]
    if lexer is None:
        return plain
    lines: list[list[Run]] = [[]]
    for kind, text in lexer.get_tokens(safe):
        look = _look_of(str(kind).removeprefix("Token."))
        first, *others = text.split("\n")
        if first:
            lines[-1].append(Run(first, look))
        lines.extend([Run(other, look)] if other else [] for other in others)
    coloured = lines[: len(plain)]
    # A lexer may drop or change text; a document may not.
    return coloured if _join(coloured) == safe else plain


def _join(lines: list[list[Run]]) -> str:
    return "\n".join("".join(run.text for run in line) for line in lines)


@lru_cache(maxsize=64)
def _find_lexer(language: str) -> Lexer | None:
    if not language:
        return None
    # Pygments takes a moment to import, and many documents have no code.
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]  # noqa: PLC0415
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]  # noqa: PLC0415

    try:
        return get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=256)
def _look_of(kind: str) -> Look:
    return Look(next((role for start, role in _ROLES if kind.startswith(start)), Role.CODE))
