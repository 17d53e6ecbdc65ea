"""What a fetched page is and says, whatever its site wants a reader to spend on it."""

from __future__ import annotations

import pytest

from roamtui.document.web_text import PageKind, classify_page, decode_html, find_link, parse_fetched
from roamtui.sources.web.page import FetchedPage


def make_page(body: bytes, media_type: str = "text/plain", charset: str | None = None) -> FetchedPage:
    url = "https://docs.example/a"
    return FetchedPage(url=url, final_url=url, media_type=media_type, charset=charset, body=body)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<!-- a --> <?xml version='1.0'?>\n<!-- b --><!DOCTYPE html><p>x", PageKind.HTML),
        (b"\xef\xbb\xbf\n<HTML lang=de>", PageKind.HTML),
        (b"<!-- never closed <html>", PageKind.MARKDOWN),
        (b"<!---->" * 500 + b"# Title", PageKind.MARKDOWN),
        (b"<!-- a -->\n" * 300 + b"# Title", PageKind.MARKDOWN),
        (b"<htmlx>", PageKind.MARKDOWN),
    ],
)
def test_what_begins_like_a_page_is_told_from_a_text_with_comments(body: bytes, kind: PageKind) -> None:
    assert classify_page(make_page(body)) is kind


def test_a_link_of_a_page_is_found_by_its_relation() -> None:
    html = "<linkage rel=alternate href=no><LINK href='a.md' rel=\"other Alternate\" type=text/markdown>"
    assert find_link(html, "alternate") == "a.md"
    assert find_link(html, "alternate", media_types=("text/markdown",)) == "a.md"
    assert find_link(html, "alternate", media_types=("text/html",)) is None
    assert find_link("<link rel=alternate href=cut", "alternate") is None


@pytest.mark.parametrize("html", ["<link " * 33_000, f"<link {'a' * 190_000}>", f"<link {'a' * 3_900}>" * 50])
def test_links_are_looked_for_in_time_that_grows_with_the_page_alone(html: str) -> None:
    assert find_link(html, "alternate") is None


@pytest.mark.parametrize("charset", ["punycode", "idna", "unicode_escape", "utf-7", "zlib", "nonsense", "a\x00b"])
@pytest.mark.parametrize("media_type", ["text/plain", "text/html"])
def test_an_encoding_that_is_none_of_the_web_is_not_used(charset: str, media_type: str) -> None:
    body = rb"<p>half a pair: \ud800 +2AA- " + b"x-" + b"b9a" * 100_000
    text = str(parse_fetched(make_page(body, media_type, charset)).text)
    text.encode("utf-8")
    assert "+2AA-" in text


def test_a_page_is_read_in_the_encoding_that_it_names() -> None:
    named = '<meta charset="shift_jis"><p>日本'.encode("shift_jis")
    assert "日本" in decode_html(make_page(named))
    assert "日本" in decode_html(make_page("日本".encode("euc_jp"), charset="euc-jp"))
    assert str(parse_fetched(make_page("# Köln\n".encode("cp1252"), charset="windows-1252")).text) == "# Köln\n"
