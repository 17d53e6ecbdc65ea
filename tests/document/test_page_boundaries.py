"""Files that hold all pages of a site: each page is a section with its address; ordinary files stay what they are."""

from __future__ import annotations

import re

import pytest

from roamtui.document.document import Document
from roamtui.document.parse import parse_document, parse_raw
from roamtui.sources.read import RawText
from tests.document.invariants import assert_is_lossless, assert_is_nested, list_nodes, read_sections
from tests.real_documents import list_documents, read_document

NAME = "llms-full.txt"
_FULL = list_documents("llms/full/*.txt")
_ORDINARY = list_documents("books/*.md", "llms/files/*.txt", "sets/*/docs/**/*.md")
_BODY = "Words.\n\n## More\n\nText.\n\n"
_PAGES = {
    "title and source": f"# Page %\nSource: https://s.example/p%\n\n{_BODY}",
    "title, blank line, URL": f"# Page %\n\nURL: https://s.example/p%\n\n{_BODY}",
    "rule, title, source, rule": f"---\n# Page %\nSource: https://s.example/p%\n---\n\n{_BODY}",
    "rule, URL, title": f"---\n\nURL: https://s.example/p%\n\n# Page %\n\n{_BODY}",
    "front matter": f"---\ntitle: Page %\nurl: https://s.example/p%\n---\n\n{_BODY}",
    "front matter after text": f"---\ntitle: Page %\nurl: https://s.example/p%\n---\n\n{_BODY}Last words.\n",
    "front matter and heading": f"---\ntitle: Short %\nurl: https://s.example/p%\n---\n\n# Page %\n\n{_BODY}",
    "tags": f'<page title="Page %" url="https://s.example/p%">\n\n{_BODY}</page>\n\n',
    "tags with a heading": f'<doc href="https://s.example/p%" desc="x">\n# Page %\n\n{_BODY}</doc>\n',
    "elements": f"<document>\n<source>https://s.example/p%</source>\n<content>\n# Page %\n\n{_BODY}</document>\n",
    "comments": f"<!-- docs_page: https://s.example/p% -->\n\n# Page %\n\n{_BODY}",
    "skip links": f"# Page %\n[Skip to main content](https://s.example/p%#content)\n\n{_BODY}",
}


def parse(text: str, *, name: str = NAME, url: str | None = "https://s.example/llms-full.txt") -> Document:
    return parse_raw(RawText(text=text, source="test", name=name), url=url)


def repeat(page: str, count: int = 3) -> str:
    """Return a file of pages, each with a number in place of `%`."""
    return "".join(page.replace("%", str(number)) for number in range(1, count + 1))


@pytest.mark.parametrize("name", [NAME, "docs.md"])
@pytest.mark.parametrize("page", _PAGES.values(), ids=_PAGES.keys())
def test_each_page_is_a_section_with_its_address(page: str, name: str) -> None:
    text = repeat(page)
    document = parse(text, name=name)
    nodes = [node for node in list_nodes(document) if node.level]
    assert [(node.level, node.title) for node in nodes] == [
        one for number in (1, 2, 3) for one in ((1, f"Page {number}"), (2, "More"))
    ]
    assert [node.url for node in nodes] == [f"https://s.example/p{number}" for number in (1, 1, 2, 2, 3, 3)]
    assert_is_lossless(document)
    assert_is_nested(document)
    assert_is_lossless(parse(text.replace("\n", "\r\n"), name=name))


def test_titles_after_rules_are_pages_in_a_file_with_the_name_alone() -> None:
    text = "# Site\n\nWords.\n\n" + repeat("---\n\n## Page %\n\nWords.\n\n## More\n\n")
    pages = [(2, "Page 1"), (3, "More"), (2, "Page 2"), (3, "More"), (2, "Page 3"), (3, "More")]
    assert [(level, title) for level, title, _ in read_sections(parse(text))] == [(1, "Site"), *pages]
    assert read_sections(parse(text, name="docs.md")) == read_sections(parse_document(text))


def test_a_fence_that_a_page_leaves_open_ends_with_it() -> None:
    text = repeat("# Page %\nSource: /p%\n\n```python\nprint(%)\n\n")
    assert [title for _, title, _ in read_sections(parse(text))] == ["Page 1", "Page 2", "Page 3"]


def test_what_stands_in_a_block_of_code_is_no_boundary() -> None:
    shown = "```\n# Example\nSource: https://s.example/e\n```\n\n"
    text = repeat("# Page %\nSource: /p%\n\n") + shown + repeat("# Later %\nSource: /l%\n\n")
    assert "Example" not in [title for _, title, _ in read_sections(parse(text))]


@pytest.mark.parametrize("count", [1, 2])
def test_few_boundaries_are_none_in_a_file_of_another_name(count: int) -> None:
    text = repeat(_PAGES["front matter"], count)
    assert read_sections(parse(text, name="docs.md")) == read_sections(parse_document(text))


@pytest.mark.parametrize("name", _FULL)
def test_a_real_file_keeps_every_character_and_every_page(name: str) -> None:
    text = read_document(name)
    document = parse(text)
    assert_is_lossless(document)
    assert_is_nested(document)
    lines = text.split("\n")
    false = [
        title
        for _, title, line in read_sections(document)
        if re.match(r"(?:source|url|title): ", title, re.IGNORECASE) and not lines[line - 1].startswith("#")
    ]
    assert false == []


@pytest.mark.parametrize(
    ("name", "pages"),
    [("sei-protocol__sei-docs", 134), ("55-Tech-Limited__mm-abp-docs", 23), ("BerriAI__litellm-docs", 50),
     ("Consensys__doc.web3signer", 25)],
)  # fmt: skip
def test_a_real_file_has_the_pages_that_its_boundaries_say(name: str, pages: int) -> None:
    if f"llms/full/{name}.txt" not in _FULL:
        pytest.skip("There are no real documents here.")
    for file_name in (NAME, f"{name}.txt"):
        document = parse(read_document(f"llms/full/{name}.txt"), name=file_name)
        assert len(set(filter(None, document.columns.urls))) == pages


@pytest.mark.slow
def test_no_ordinary_document_is_taken_for_many_pages() -> None:
    for name in _ORDINARY:
        text = read_document(name)
        found = [title for _, title, _ in read_sections(parse(text, name=name, url=None))]
        assert found == [title for _, title, _ in read_sections(parse_document(text))], name
