"""Convert a Jupyter notebook to Markdown: its Markdown as written, its code, and its outputs as text.

No code is run. Pictures, which a notebook holds as base64, are left out.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from roamtui.convert.converted import ConvertedText
from roamtui.convert.decode import decode_text
from roamtui.convert.escaping import write_code
from roamtui.convert.html import convert_html

_PICTURE_URL = re.compile(r"(?<=[(<\"'])(?:data|attachment):[^\s()<>\"']*")
_TERMINAL_CODE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_PAGE_OBJECT = re.compile(r"<IPython\.[\w.]{1,60} object>")
"""The plain text that Jupyter gives an output in HTML."""
_HEADING = re.compile("^#", re.MULTILINE)


def convert_notebook(data: bytes, name: str) -> ConvertedText:
    """Convert a notebook, of version 4, to Markdown."""
    text, notes = decode_text(data, name)
    notebook = json.loads(text)
    about = notebook.get("metadata", {}).get("language_info", {})
    language = re.sub(r"[^\w#+.-]", "", str(about.get("name", "")))
    blocks: list[str] = []
    for cell in notebook["cells"]:
        kind = cell.get("cell_type")
        source = _join_lines(cell.get("source")).strip("\n")
        if source.strip() and kind == "markdown":
            blocks.append(_PICTURE_URL.sub("", source))
        elif source.strip():
            blocks.append(write_code(source, language if kind == "code" else ""))
        if kind == "code":
            blocks += filter(None, map(_write_output, cell.get("outputs", ())))
    return ConvertedText(text="\n\n".join(blocks) + "\n", notes=notes)


def _write_output(output: Mapping[str, Any]) -> str:
    """Write an output as Markdown; return an empty text for one that shows a picture."""
    data = output.get("data", {})
    page, markdown = (_join_lines(data.get(f"text/{name}")) for name in ("html", "markdown"))
    text = _join_lines(data.get("text/plain", output.get("text")))
    if output.get("output_type") == "error":
        text = f"{_join_lines(output.get('ename'))}: {_join_lines(output.get('evalue'))}"
    if any(key.startswith("image/") for key in data):
        return ""
    if markdown.strip():
        return _HEADING.sub(r"\\#", _PICTURE_URL.sub("", markdown).strip("\n"))
    is_page = _PAGE_OBJECT.fullmatch(text.strip()) is not None
    if is_page or "<table" in page:
        shown = convert_html(page).text.strip("\n")
        if shown or is_page:
            return _HEADING.sub(r"\\#", shown)
    # Without terminal colours, and text that a progress bar has overwritten.
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in _TERMINAL_CODE.sub("", text).split("\n"))
    text = "\n".join(lines).strip("\n").rstrip()
    return write_code(text, "output") if text else ""


def _join_lines(value: object) -> str:
    """Return a text that may be stored as a list of lines; return an empty text for any other value."""
    if isinstance(value, list):
        return "".join(value)
    return value if isinstance(value, str) else ""
