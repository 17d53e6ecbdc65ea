"""Lists of links: each link is a node."""

import pytest

from roamtui.document.document import Document, NodeKind
from roamtui.document.library import Node
from roamtui.document.parse import parse_document, parse_source_text
from roamtui.sources.read import SourceText
from tests.case_files import read_rows
from tests.document.invariants import assert_is_lossless, assert_is_nested, list_nodes, read_sections
from tests.real_documents import list_documents, read_document

BASE = "https://site.example/docs/llms.txt"
_FILES = list_documents("llms/files/*.txt")
_LIST = "# A\n\n> Q\n\n## Docs\n\n- [A](https://x.example/a)\n- [B](https://x.example/b)\n- [C](https://x.example/c)\n"


def parse(text: str, *, name: str = "llms.txt", url: str | None = BASE) -> Document:
    return parse_source_text(SourceText(text=text, source="test", name=name), url=url)


def list_links(document: Document) -> list[Node]:
    return [node for node in list_nodes(document) if node.kind is NodeKind.LINK]


@pytest.mark.parametrize(("text", "expected"), read_rows("document/llms_txt", "links"))
def test_links_of_list_items_become_nodes(text: str, expected: list[list[str]]) -> None:
    document = parse(f"# T\n\n{text}")
    assert [[node.title, node.url] for node in list_links(document)] == expected
    assert_is_lossless(document)


@pytest.mark.parametrize(
    ("name", "is_list"),
    [
        ("llms.txt", True),
        ("llms-small.txt", True),
        ("llms-full.txt", False),
        ("fullcalendar-llms.txt", True),
        ("notes on llms.md", False),
    ],
)
def test_a_list_of_links_is_known_by_its_name(name: str, *, is_list: bool) -> None:
    for url in ("https://x.example/docs/", None):
        assert bool(list_links(parse(_LIST, name=name, url=url))) is is_list


def test_pages_of_a_list_that_is_too_long_are_said_to_be_left_out() -> None:
    long = parse(_LIST + "- more\n" * 250_000)
    assert (list_links(long), long.left_out) == ([], ("the pages that a long list leads to",))


@pytest.mark.parametrize("name", _FILES)
def test_a_real_file_keeps_every_character_and_every_section(name: str) -> None:
    text = read_document(name)
    document = parse(text)
    assert read_sections(document) == read_sections(parse_document(text))
    assert_is_lossless(document)
    assert_is_nested(document)
