"""Convert a Jupyter notebook to Markdown: its Markdown as written, its code, and its outputs as text.

No code is run. Pictures, which a notebook holds as base64, are counted and left out.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import ConvertedText, format_lost
from roamtui.sources.convert.escaping import write_code
from roamtui.sources.convert.html import convert_html
from roamtui.sources.decode import decode_text

_OUTPUT_LANGUAGE = "output"
"""Language of the code blocks that hold outputs."""
_LANGUAGE = re.compile(r"[\w#+.-]{1,30}")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_DATA_URL = re.compile(r"(?<=[(<\"'])data:[^\s()<>\"']*")
_ATTACHED = re.compile(r"\]\(attachment:[^()\n]*\)")
_TERMINAL_CODE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_HEADING = re.compile("^#", re.MULTILINE)
_PICTURE_NAME = re.compile(r"<[\w. ]*(?:Figure|Axes|Image)\b[^\n]*>")
"""The text of an output that only names a picture, such as ``<Figure size 640x480 with 1 Axes>``."""


def convert_notebook(data: bytes, name: str) -> ConvertedText:
    """Convert a notebook, of version 4, to Markdown."""
    text, notes = decode_text(data, name)
    try:
        notebook = json.loads(text)
    except ValueError:
        raise SourceError(f"{name} is damaged: it is not valid JSON. Save it again in Jupyter.") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise SourceError(f"{name} is not a Jupyter notebook: it has no cells. Save it again in Jupyter.")
    metadata = notebook.get("metadata") or {}
    languages = (metadata.get("language_info", {}).get("name"), metadata.get("kernelspec", {}).get("language"))
    language = next((str(value) for value in languages if value and _LANGUAGE.fullmatch(str(value))), "")
    lost: Counter[str] = Counter()
    blocks = [block for cell in notebook["cells"] for block in _write_cell(cell, language, lost)]
    if not blocks:
        raise SourceError(f"{name} contains no text: all its cells are empty.")
    return ConvertedText(
        text="\n\n".join(blocks) + "\n",
        title=" ".join(str(metadata.get("title", "")).split()),
        notes=notes,
        lost=format_lost(lost),
    )


def _write_cell(cell: Mapping[str, Any], language: str, lost: Counter[str]) -> Iterator[str]:
    kind = cell.get("cell_type")
    source = _join_lines(cell.get("source")).strip("\n")
    if kind == "code":
        if source.strip():
            yield write_code(source, language)
        for output in cell.get("outputs", ()):
            text = _write_output(output, lost)
            if text:
                yield text
    elif not source.strip():
        return
    elif kind == "markdown":
        lost["picture"] += len(_ATTACHED.findall(source)) + len(_DATA_URL.findall(source))
        yield _close_blocks(_ATTACHED.sub("]()", _DATA_URL.sub("", source)))
    else:
        yield write_code(source)


def _write_output(output: Mapping[str, Any], lost: Counter[str]) -> str:
    """Write an output as Markdown; return an empty text for one that only shows a picture."""
    if output.get("output_type") == "error":
        name, value = (_join_lines(output.get(key)) for key in ("ename", "evalue"))
        return write_code(f"{name}: {_clean_output(value)}", _OUTPUT_LANGUAGE)
    data = output.get("data", {})
    html, markdown = (_join_lines(data.get(f"text/{name}")) for name in ("html", "markdown"))
    text = _clean_output(_join_lines(data.get("text/plain", output.get("text"))))
    is_picture = any(key.startswith("image/") for key in data)
    if is_picture or "<img" in html:
        lost["picture"] += 1
        text = "" if _PICTURE_NAME.fullmatch(text) else text
    elif "application/vnd.jupyter.widget-view+json" in data or (html and "<table" not in html and not text):
        lost["interactive output"] += 1
    if markdown.strip():
        return _close_blocks(_HEADING.sub(r"\\#", _DATA_URL.sub("", markdown).strip("\n")))
    if "<table" in html:
        table = convert_html(html).text.strip("\n")
        if table and not _HEADING.search(table):
            return table
    text = text or _join_lines(data.get("text/latex"))
    return write_code(text, _OUTPUT_LANGUAGE) if text.strip() else ""


def _clean_output(text: str) -> str:
    """Remove terminal colours, and text that a progress bar has overwritten."""
    lines = _TERMINAL_CODE.sub("", text).split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines).strip("\n").rstrip()


def _close_blocks(text: str) -> str:
    """Close a code block or comment that a cell leaves open, because it would hide the cells below."""
    fence = ""
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if match and not fence:
            fence = match[1]
        elif match and match[1].startswith(fence) and not line.strip(f" {fence[0]}"):
            fence = ""
    if fence:
        return f"{text}\n{fence}"
    return f"{text}\n-->" if text.rfind("<!--") > text.rfind("-->") else text


def _join_lines(value: object) -> str:
    """Return a text that may be stored as a list of lines; return an empty text for any other value."""
    return "".join(value) if isinstance(value, list) else value if isinstance(value, str) else ""
