"""Converts a Jupyter notebook to Markdown: its Markdown as written, its code, and its outputs as text.

No code is run. Pictures are left out.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from roamtui.convert.converted import ConvertedText
from roamtui.convert.decode import decode_text
from roamtui.convert.html import convert_html
from roamtui.errors import SourceError
from roamtui.markdown.escaping import write_code

_TERMINAL_CODE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_MAY_BE_OPEN = re.compile("```|~~~|<[!?a-z]", re.IGNORECASE)
_HTML_ENDS = ("-->", "</pre>", "?>", "]]>", ">")
"""The end of each kind of HTML block that an empty line does not end."""
_DISPLAY_STYLE = re.compile(r"\\displaystyle\b\s*")
"""The command that IPython puts before each formula."""


def convert_notebook(data: bytes, name: str) -> ConvertedText:
    """Convert a notebook to Markdown.

    Raises:
        SourceError: It is of a version before 4, or has no list of cells.
    """
    text, notes = decode_text(data, name)
    notebook = json.loads(text)
    about = (notebook.get("metadata") or {}).get("language_info") or {}
    if "worksheets" in notebook:
        raise SourceError(
            f"{name} is a notebook of version {notebook.get('nbformat')}, not 4. Save it again in Jupyter."
        )
    if "cells" not in notebook:
        raise SourceError(f"{name} is not a notebook: it has no cells. Save it again in Jupyter.")
    blocks: list[str] = []
    for cell in notebook["cells"]:
        source = _join_lines(cell.get("source")).strip("\n")
        if source.strip():
            blocks.append(_write_source(source, cell, str(about.get("name", ""))))
        if cell.get("cell_type") == "code":
            blocks += map(_write_output, cell.get("outputs") or ())
    return ConvertedText(text="\n\n".join(filter(None, blocks)) + "\n", notes=notes)


def _write_source(source: str, cell: Mapping[str, Any], language: str) -> str:
    match cell.get("cell_type"):
        case "markdown":
            return _close_blocks(source)
        case "code":
            return write_code(source, re.sub(r"[^\w#+.-]", "", language))
        case _:
            return write_code(source)


def _close_blocks(source: str) -> str:
    """End the code or HTML that a Markdown cell leaves open, because Jupyter shows each cell by itself."""
    if not _MAY_BE_OPEN.search(source):
        return source
    from roamtui.commonmark import parse_blocks  # noqa: PLC0415 - takes 80 ms

    def ends_all(text: str) -> bool:
        heading = parse_blocks(f"{text}\n\n# x", {})[-1]
        return heading.type == "heading_close" and heading.level == 0

    fences = [token.markup for token in parse_blocks(source, {})[-1:]]
    closed = (source, *(f"{source}\n{end}" for end in (*fences, *_HTML_ENDS)))
    return next(filter(ends_all, closed), source)


def _write_output(output: Mapping[str, Any]) -> str:
    """Write the part of an output that Jupyter shows. Return an empty string for a picture."""
    data = output.get("data") or {"text/plain": output.get("text")}  # a stream has only text
    page, markdown, formula, text = (
        _join_lines(data.get(f"text/{name}")) for name in ("html", "markdown", "latex", "plain")
    )
    if page.strip():
        return _escape_headings(convert_html(page).text.strip("\n"))
    if markdown.strip():
        return _escape_headings(_close_blocks(markdown.strip("\n")))
    if formula.strip():
        return _DISPLAY_STYLE.sub("", formula).strip("\n")
    if any(key.startswith("image/") or key == "application/javascript" for key in data):
        return ""
    if "application/json" in data:
        value = data["application/json"]
        shown = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
        return write_code(shown, "json")
    if output.get("output_type") == "error":
        summary = f"{_join_lines(output.get('ename'))}: {_join_lines(output.get('evalue'))}"
        text = "\n".join(map(_join_lines, output.get("traceback") or [summary]))
    # Remove terminal colours, and text that a progress bar has overwritten.
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in _TERMINAL_CODE.sub("", text).split("\n"))
    text = "\n".join(lines).strip("\n").rstrip()
    return write_code(text, "output") if text else ""


def _escape_headings(text: str) -> str:
    """Escape the headings of an output, which is part of a section. Code stays as it is."""
    from roamtui.commonmark import parse_blocks  # noqa: PLC0415 - takes 80 ms

    lines = text.split("\n")
    for token in parse_blocks(text, {}):
        if token.type == "heading_open" and token.level == 0 and token.map:
            number = token.map[0] if token.markup[0] == "#" else token.map[1] - 1
            lines[number] = f"\\{lines[number].lstrip()}"
    return "\n".join(lines)


def _join_lines(value: object) -> str:
    """Return a text that may be stored as a list of lines. Return an empty string for any other value."""
    if isinstance(value, list):
        return "".join(value)
    return value if isinstance(value, str) else ""
