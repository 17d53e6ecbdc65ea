"""Readers of pages, books, notebooks and PDFs, with which `conversion.py` compares: Chromium, pandoc, poppler.

What docs/sources.md leaves out is taken out of what they read, by elements, types and places, never by words.
"""

import io
import json
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

from tests.benchmarks.conversion_readers import read_by_pandoc
from tests.fakes.chromium import Chromium, find_chromium

_PAGE_SCRIPT = r"""
(() => {
  const list = selector => [...document.querySelectorAll(selector)]
  const measure = part => [part, ...part.querySelectorAll("li a")]
    .map(each => each.textContent.replace(/\s+/g, " ").length).reduce((whole, links) => whole - links)
  const roles = ["navigation", "contentinfo", "search", "menu", "menubar", "toolbar", "dialog"]
  const off = ["nav", "footer", "noscript", "template", "iframe", "object", "audio", "video", "canvas", "datalist",
    "script", "style", "title", "[aria-hidden=true]", ".sr-only", ".visually-hidden", ".screen-reader-text",
    ".skip-link", ".breadcrumb", ".breadcrumbs", ".lineno", ".linenos", ".mw-editsection",
    ...roles.map(role => `[role=${role}]`)]
  for (const part of list(off.join(","))) if (!part.matches("blockquote footer, figure footer")) part.remove()
  for (const button of list("button"))
    if (/copy|copied/i.test(button.innerText + button.className + button.title + button.ariaLabel)) button.remove()
  for (const menu of list("select")) menu.replaceWith(` ${[...menu.selectedOptions].map(each => each.label)} `)
  for (const reading of list("rt")) reading.before("("), reading.after(")")
  const title = list("h1").find(each => each.textContent.trim())
  let part = title ?? document.body
  while (part !== document.body && !(part.matches("main, article, [role=main], [role=article]")
    && measure(part) >= 0.6 * measure(document.body))) part = part.parentElement
  return part.innerText
})()
"""
"""Takes out what roamtui leaves out, and returns what is shown of the main part."""
_HIDDEN_SOURCE = re.compile(r"<(style|script|nav)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_TERMINAL_CODE = re.compile(r"\x1b\[[0-9;]*m")
_WIDGET = "application/vnd.jupyter.widget-view+json"
_EDGE_LINES, _REPEATS_MIN, _REPEATED_SHARE = 3, 3, 0.06
_PAGE_NUMBER = re.compile(r"\W*(?:page)?\W*\d{1,4}\W*(?:(?:of|/)\W*\d+)?\W*", re.IGNORECASE)


@cache
def _open_browser() -> Chromium:
    program = find_chromium()
    assert program is not None, "Chromium is not installed"
    browser = Chromium(program, Path(tempfile.mkdtemp()))
    browser.call("Page.enable")
    browser.call("Network.enable")
    browser.call("Network.setBlockedURLs", urls=["http://*", "https://*"])
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    return browser


def read_html(data: bytes) -> str:
    """Read what Chromium shows of a page, without scripts and without other files."""
    browser = _open_browser()
    with tempfile.NamedTemporaryFile(suffix=".html") as file:
        file.write(data)
        file.flush()
        browser.call("Page.navigate", url=Path(file.name).as_uri())
        browser.wait_for(lambda message: message.get("method") == "Page.loadEventFired")
        shown = browser.call("Runtime.evaluate", expression=_PAGE_SCRIPT, returnByValue=True)
    return str(shown["result"]["value"])


def read_epub(data: bytes) -> str:
    """Read a book by pandoc, without its navigation."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as book, zipfile.ZipFile(stream, "w") as changed:
        for name in book.namelist():
            part = book.read(name)
            if name.endswith(("html", "htm")):
                part = _HIDDEN_SOURCE.sub("", part.decode("utf-8", "replace")).encode()
            changed.writestr(name, part)
    return read_by_pandoc(stream.getvalue(), "epub")


def read_ipynb(data: bytes) -> str:
    """Read a notebook by pandoc, without its widgets, of which pandoc shows the source."""
    notebook = json.loads(data)
    outputs = [output for cell in notebook.get("cells", ()) for output in cell.get("outputs", ())]
    for parts in (output.get("data", {}) for output in outputs):
        parts.pop(_WIDGET, None)
        if "text/html" in parts:
            parts["text/html"] = _HIDDEN_SOURCE.sub("", "".join(parts["text/html"]))
    return _TERMINAL_CODE.sub("", read_by_pandoc(json.dumps(notebook).encode(), "ipynb"))


def read_pdf(data: bytes) -> str:
    """Read a PDF by poppler, without heads, feet and numbers of pages."""
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        file.write(data)
        file.flush()
        command = [shutil.which("pdftotext") or "pdftotext", "-raw", file.name, "-"]
        run = subprocess.run(command, capture_output=True, check=True, timeout=300)
    return _strip_edges(run.stdout.decode("utf-8", "replace"))


def _strip_edges(text: str) -> str:
    pages = [[line for line in page.split("\n") if line.strip()] for page in text.split("\f")]
    edges = Counter(key for page in pages for key in {*map(_fold_line, page[:_EDGE_LINES] + page[-_EDGE_LINES:])})
    repeats = max(_REPEATS_MIN, _REPEATED_SHARE * len(pages))
    kept = (
        line
        for page in pages
        for number, line in enumerate(page)
        if _EDGE_LINES <= number < len(page) - _EDGE_LINES
        or not (edges[_fold_line(line)] >= repeats or _PAGE_NUMBER.fullmatch(line))
    )
    return "\n".join(kept)


def _fold_line(line: str) -> str:
    return re.sub(r"\d+", "#", " ".join(line.split()))


READERS: dict[str, Callable[[bytes], str]] = {
    "html": read_html,
    "epub": read_epub,
    "ipynb": read_ipynb,
    "pdf": read_pdf,
}
"""The independent reader of each format."""
