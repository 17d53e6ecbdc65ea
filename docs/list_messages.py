"""Lists all messages that a person may see, from the code: `python -m docs.list_messages`.

They are the texts of errors, notices and warnings. ``{path}`` is a part that the program fills in, or
``{…}`` if the code has no name for it.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1] / "roamtui"
_CALLS = re.compile(
    r"(?!Attribute)\w+Error|\w*warn\w*|write_notice|notify|_fail|error|_?show_message|StatusMessage|Notice|WarningRaised"
    r"|ApprovalRequest|ConfirmDialog|ModelFailure|on_warning|append|__init__"
)
"""Names of calls whose texts are shown. Lists of lines for a person grow by `append`."""
_CONSTANTS = re.compile(
    r"_?[A-Z_]*(?:MESSAGE|NOTE|NOTICE|HINT|ADVICE|REASON|TEXTS|CAUSES|LABEL|MISSING|(?:EXPANSION|CLOSE)_WORDS)[A-Z_]*"
)
"""Names of constants whose texts are shown."""
_FIELDS = re.compile(
    r"reason|advice|remedy|note|notice|hint|message|problem|error|detail|failure|warning|place|label|left|lead"
    r"|stop_reason"
)
"""Names of variables and fields whose texts are shown."""
_PARSERS = ("removeprefix", "removesuffix", "split", "partition", "replace", "format", "format_count")
"""Functions whose texts are looked for in another text, or are a part of one."""
_FOR_MODELS = (
    *("agent/prompt.py", "agent/tools/", "conversation/transcript.py", "headless/mcp.py"),
    *("outline/expansion.py", "retrieval/render.py"),
)
"""Modules that write to a model. Only the notices of tools are shown to a person."""
_SENTENCE = re.compile(r"[^\W\d_]{2,}.*\s")
_PART = re.compile(r"\{[^}]*\}")
_CODE = re.compile(r"\\|\(\?|\$\w|^<|Error [A-Z]")
"""Only patterns, styles, HTML and lists of errors have these characters."""


def main() -> None:
    """Print each message with its place."""
    for place, text in list_messages():
        sys.stdout.write(f"{place}: {text}\n")


def list_messages() -> Iterator[tuple[str, str]]:
    """Yield each message once in each file, with its file and line."""
    for path in sorted(_PACKAGE.rglob("*.py")):
        listed: set[str] = set()
        is_for_model = path.relative_to(_PACKAGE).as_posix().startswith(_FOR_MODELS)
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if is_for_model and not ast.unparse(node).startswith("notice"):
                continue
            for value in _list_values(node):
                for line, text in _iter_texts(value):
                    if (
                        _SENTENCE.search(_PART.sub("", text))
                        and not _CODE.search(text)
                        and text not in listed
                    ):
                        listed.add(text)
                        yield f"{path.relative_to(_PACKAGE.parent)}:{line}", text


def _list_values(node: ast.AST) -> list[ast.expr]:
    """Return the expressions of a node whose texts a person may see."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if _CALLS.fullmatch(name):
            return [*node.args, *(keyword.value for keyword in node.keywords)]
        case ast.Return(value=ast.JoinedStr() as value):
            return [value]
        case ast.keyword(arg=str(name), value=value) if _FIELDS.fullmatch(name):
            return [value]
        case ast.Assign(targets=[ast.Name(id=name) | ast.Attribute(attr=name)], value=value):
            return [value] if _CONSTANTS.fullmatch(name) or _FIELDS.fullmatch(name) else []
        case ast.AugAssign(target=ast.Name(id=name) | ast.Attribute(attr=name), value=value):
            return [value] if _FIELDS.fullmatch(name) else []
        case _:
            return []


def _iter_texts(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the texts in an expression, with their lines."""
    match node:
        case ast.Constant(value=str(text), lineno=line):
            yield line, " ".join(text.split())
        case ast.JoinedStr(values=values, lineno=line):
            parts = [
                str(part.value) if isinstance(part, ast.Constant) else _name_part(part) for part in values
            ]
            yield line, " ".join("".join(parts).split())
            for part in values:
                yield from (_iter_texts(part.value) if isinstance(part, ast.FormattedValue) else ())
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id="format_count" as name)) if (
            name in _PARSERS
        ):
            return
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _iter_texts(child)


def _name_part(node: ast.AST) -> str:
    """Return the name of a value in a text, in braces."""
    match node:
        case ast.Call(func=ast.Name(id="format_count"), args=[_, ast.Constant(value=str(noun)), *plural]):
            return f"{{count}} {ast.literal_eval(plural[0]) if plural else f'{noun}s'}"
        case ast.Call(func=ast.Name(id=name)) if name.startswith("format_"):
            return f"{{{name.removeprefix('format_').replace('_', ' ')}}}"
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return f"{{{name.rpartition('.')[2]}}}"
        case (
            ast.FormattedValue(value=inner)
            | ast.Call(args=[inner, *_])
            | ast.BinOp(left=inner)
            | ast.Subscript(value=inner)
        ):
            return _name_part(inner)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return f"{{{name.strip('_').lower().replace('_', ' ')}}}"
        case _:
            return "{…}"


if __name__ == "__main__":
    main()
