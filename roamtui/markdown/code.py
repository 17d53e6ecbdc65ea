"""Finds the language of a block of code, and colours its lines."""

import re
from functools import lru_cache
from typing import Any

from roamtui.markdown.lines import TAB_WIDTH, Run, RunStyle, TextRole
from roamtui.sanitiser import sanitise_text

_HIGHLIGHTED_LENGTH_MAX = 20_000
"""Maximum length of highlighted code, in characters. Lexing more would delay scrolling."""
_LANGUAGE_LENGTH_MAX = 40
_TOKEN_ROLES = (
    ("Comment", TextRole.CODE_COMMENT),
    ("Keyword", TextRole.CODE_KEYWORD),
    ("Operator.Word", TextRole.CODE_KEYWORD),
    ("Name.Function", TextRole.CODE_NAME),
    ("Name.Class", TextRole.CODE_NAME),
    ("Name.Tag", TextRole.CODE_KEYWORD),
    ("Name.Attribute", TextRole.CODE_NAME),
    ("Name.Builtin", TextRole.CODE_NAME),
    ("Name.Decorator", TextRole.CODE_NAME),
    ("Literal.String", TextRole.CODE_STRING),
    ("Literal.Number", TextRole.CODE_NUMBER),
    ("Generic.Deleted", TextRole.CODE_NUMBER),
    ("Generic.Inserted", TextRole.CODE_STRING),
)


def get_language(info: str) -> str:
    """Return the language in the text after an opening fence. Options of site generators may follow it."""
    match = re.match(r"\{?[ \t]*[.=]?([\w+#./-]*)", info)
    return match[1] if match else ""


def highlight_code(code: str, language: str) -> list[list[Run]]:
    """Return the lines of `code` as sanitised runs, without colours if the language is unknown.

    The last line may lack its newline. `language` is the first word of a fence's info string.
    """
    safe = "\n".join(
        line.expandtabs(TAB_WIDTH) for line in sanitise_text(code).removesuffix("\n").split("\n")
    )
    lexer = (
        _get_lexer(language.lower()[:_LANGUAGE_LENGTH_MAX]) if len(safe) <= _HIGHLIGHTED_LENGTH_MAX else None
    )
    plain = [[Run(line, RunStyle(TextRole.CODE))] if line else [] for line in safe.split("\n")]
    if lexer is None:
        return plain
    lines: list[list[Run]] = [[]]
    for kind, text in lexer.get_tokens(safe):
        style = _get_code_style(str(kind).removeprefix("Token."))
        first, *others = text.split("\n")
        if first:
            lines[-1].append(Run(first, style))
        lines.extend([Run(other, style)] if other else [] for other in others)
    coloured = lines[: len(plain)]
    # A lexer may drop or change characters, but the reader must show all text as it is.
    shown = "\n".join("".join(run.text for run in line) for line in coloured)
    return coloured if shown == safe else plain


@lru_cache(maxsize=64)
def _get_lexer(language: str) -> Any:  # noqa: ANN401 - Pygments has no types
    if not language:
        return None
    # Pygments is slow to import, and many documents have no code.
    from pygments import lexers, util  # type: ignore[import-untyped]  # noqa: PLC0415

    try:
        return lexers.get_lexer_by_name(language, stripnl=False)
    except util.ClassNotFound:
        return None


@lru_cache(maxsize=256)
def _get_code_style(kind: str) -> RunStyle:
    return RunStyle(next((role for start, role in _TOKEN_ROLES if kind.startswith(start)), TextRole.CODE))
