"""What the documentation says is what the program does: keys, options, commands, paths and links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from docs.write_reference import fill_blocks, list_pages
from roamtui.document.parse import parse_document
from tests.real_documents import PROJECT_DIR

_PAGES = sorted([*PROJECT_DIR.glob("*.md"), *(PROJECT_DIR / "docs").glob("*.md")])
_PATH = re.compile(r"`((?:roamtui|tests|docs|examples|themes)/[\w./-]*)`")
_README_LINES_MAX = 220
_NEW_PATHS = {
    "roamtui/agent/tools/tables.py",
    "roamtui/sources/convert/notebook.py",
    "tests/conversation/test_export.py",
    "tests/sources/convert/test_notebook.py",
}
"""Files that the three changes of CONTRIBUTING.md would add."""


def test_generated_parts_of_every_page_are_up_to_date() -> None:
    stale = [page.name for page in list_pages() if fill_blocks(page.read_text("utf-8")) != page.read_text("utf-8")]
    assert stale == [], "run `make docs`"


@pytest.mark.parametrize("name", ["roamtui --help", "roamtui ask --help"])
def test_a_block_is_made_anew_between_its_marks(name: str) -> None:
    made = fill_blocks(f"Before\n<!-- {name} -->\nstale\n<!-- /{name} -->\nAfter\n")
    assert made.startswith(f"Before\n<!-- {name} -->\n```text\nusage: {name.removesuffix(' --help')} ")
    assert made.endswith(f"```\n<!-- /{name} -->\nAfter\n")
    assert "stale" not in made
    assert fill_blocks(made) == made


def test_the_readme_is_short_and_names_both_commands() -> None:
    readme = (PROJECT_DIR / "README.md").read_text("utf-8")
    assert readme.count("\n") <= _README_LINES_MAX
    assert re.search(r"^make run .*\nmake test ", readme, re.MULTILINE)


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(page.read_text("utf-8"))
    links = [link for token in tokens for link in token.children or () if link.type in ("link_open", "image")]
    assert sorted(href for href in map(_read_href, links) if not _leads_somewhere(href, page)) == []


def _read_href(link: Token) -> str:
    return str(link.attrGet("href" if link.type == "link_open" else "src"))


def _leads_somewhere(href: str, page: Path) -> bool:
    path, _, anchor = href.partition("#")
    target = page.parent / path if path else page
    if href.startswith(("https://", "http://")) or (target.exists() and not anchor):
        return True
    return target.is_file() and anchor in parse_document(target.read_text("utf-8")).anchors


@pytest.mark.parametrize("name", ["AGENTS.md", "ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_every_path_that_a_page_for_developers_names_exists(name: str) -> None:
    paths = set(_PATH.findall((PROJECT_DIR / name).read_text("utf-8"))) - _NEW_PATHS
    assert sorted(path for path in paths if not (PROJECT_DIR / path).exists()) == []
