"""Lists of links: each link of a list item is a node, whatever the file looks like."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.node import Node, NodeKind
from roamtui.document.parse import parse_document, parse_raw
from roamtui.sources.read import RawText
from tests.document.invariants import assert_is_lossless, assert_is_nested, list_nodes, read_sections
from tests.real_documents import list_documents, read_document

BASE = "https://site.example/docs/llms.txt"
_FILES = list_documents("llms/files/*.txt")
_SHAPE = "# A\n\n> Q\n\n## Docs\n\n- [A](https://x.example/a)\n- [B](https://x.example/b)\n- [C](https://x.example/c)\n"


def parse(text: str, *, name: str = "llms.txt", url: str | None = BASE) -> Document:
    return parse_raw(RawText(text=text, source="test", name=name), url=url)


def list_links(document: Document) -> list[Node]:
    return [node for node in list_nodes(document) if node.kind is NodeKind.LINK]


def tell(document: Document) -> list[tuple[str, str | None]]:
    return [(node.title, node.url) for node in list_links(document)]


def test_a_link_stands_below_its_section_with_its_item_as_text() -> None:
    document = parse("# A\n\n> Q\n\n## Docs\n\nWords.\n\n- [One](one.md): first\n- [Two](/two): second\n  and more\n")
    library = Library(source="test", root=document)
    one, two = list_links(document)
    assert [(node.title, node.url, node.level, node.path) for node in (one, two)] == [
        ("One", "https://site.example/docs/one.md", 3, ("A", "Docs", "One")),
        ("Two", "https://site.example/two", 3, ("A", "Docs", "Two")),
    ]
    assert library.own_text(one.id) == "- [One](one.md): first\n"
    assert library.own_text(two.id) == "- [Two](/two): second\n  and more\n"
    assert (two.start_line, two.end_line) == (10, 11)
    assert not one.is_loaded
    assert library.own_text(one.parent or "") == "## Docs\n\nWords.\n\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- [A](a)\n", [("A", "https://site.example/docs/a")]),
        ("1. [A](a)\n2) [B](b)\n", [("A", "https://site.example/docs/a"), ("B", "https://site.example/docs/b")]),
        ('- [A](a "a title")\n', [("A", "https://site.example/docs/a")]),
        ("- [`code` and *more*](a)\n", [("code and more", "https://site.example/docs/a")]),
        ("- [A][ref]\n\n[ref]: /r\n", [("A", "https://site.example/r")]),
        ("- [A](a#part) and [B](#here)\n", [("A", "https://site.example/docs/a")]),
        ("- top\n  - [A](a)\n    - [B](b)\n", [("A", "https://site.example/docs/a"), ("B", "https://site.example/docs/b")]),
        ("- [A](a), [B](b)\n", [("A", "https://site.example/docs/a"), ("B", "https://site.example/docs/b")]),
        ("- Home: https://x.example/h.\n", [("Home", "https://x.example/h")]),
        ("- <https://x.example/h>: note\n", [("x.example/h", "https://x.example/h")]),
        ("- \u5b98\u7f51\u6587\u6863\uff1ahttps://x.example\uff5cCLI\uff1ahttps://x.example/cli/\n", [
            ("\u5b98\u7f51\u6587\u6863", "https://x.example/"), ("CLI", "https://x.example/cli/"),
        ]),
        ("- [mail](mailto:a@b.example) [js](javascript:alert(1)) [f](file:///etc/passwd) [d](data:text/html,x)\n", []),
        ("- `[A](a)`\n\n[B](b)\n\n```\n- [C](c)\n```\n", []),
        ("- ![picture](p.png)\n", []),
        ("- [![picture](p.png)](page)\n", [("picture", "https://site.example/docs/page")]),
    ],
)  # fmt: skip
def test_what_is_a_link_of_a_list(text: str, expected: list[tuple[str, str]]) -> None:
    document = parse(f"# T\n\n{text}")
    assert tell(document) == expected
    assert_is_lossless(document)


def test_several_links_of_an_item_begin_with_it_and_the_last_holds_its_text() -> None:
    document = parse("- [A](a), [B](b): both\n- [C](c)\n")
    library = Library(source="test", root=document)
    assert [library.own_text(node.id) for node in list_links(document)] == [
        "",
        "- [A](a), [B](b): both\n",
        "- [C](c)\n",
    ]
    assert [node.start_line for node in list_links(document)] == [1, 1, 2]


def test_without_an_address_relative_links_stay_text() -> None:
    document = parse("- [A](a)\n- [B](https://x.example/b)\n", url=None)
    assert tell(document) == [("B", "https://x.example/b")]


@pytest.mark.parametrize(
    ("text", "name", "is_list"),
    [
        (_SHAPE, "notes.md", True),
        (_SHAPE.replace("> Q\n", "Q\n"), "notes.md", False),
        (_SHAPE.replace("> Q\n", "Q\n"), "LLMS.txt", True),
        (_SHAPE.replace("## Docs\n", ""), "notes.md", False),
        (_SHAPE + "- plain\n- plain too\n", "notes.md", False),
        (_SHAPE + "A long paragraph of words. " * 20, "notes.md", False),
        (_SHAPE + "A long paragraph of words. " * 20, "llms-small.txt", True),
        (_SHAPE, "notes.csv", True),
    ],
)
def test_a_file_is_a_list_of_links_by_its_name_or_its_shape(text: str, name: str, *, is_list: bool) -> None:
    assert bool(list_links(parse(text, name=name, url=None))) is is_list


def count_links(text: str) -> tuple[int, int]:
    """Return the links to pages, and the bare addresses where an item has none, by inline tokens in list items."""
    depth = links = bare = 0
    for token in MarkdownIt("commonmark", {"maxNesting": 1_000}).enable("table").parse(text):
        depth += {"list_item_open": 1, "list_item_close": -1}.get(token.type, 0)
        if token.type != "inline" or not depth:
            continue
        hrefs = [str(child.attrs["href"]) for child in token.children or [] if child.type == "link_open"]
        texts = " ".join(child.content for child in token.children or [] if child.type == "text")
        links += len([href for href in hrefs if not re.match(r"#|(?!https?:)[a-z]+:", href)])
        bare += len(re.findall(r"https?://", texts)) if not hrefs else 0
    return links, bare


@pytest.mark.parametrize("name", _FILES)
def test_a_real_file_has_the_links_that_its_lists_have(name: str) -> None:
    text = read_document(name)
    document = parse(text)
    assert len(list_links(document)) == sum(count_links(text))
    assert read_sections(document) == read_sections(parse_document(text))
    assert_is_lossless(document)
    assert_is_nested(document)
