"""URLs are normalised or refused; no two parsers see different hosts."""

from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.errors import SourceError
from roamtui.web.urls import AllowedOrigins, covers_origin, normalise_url, origin_of, resolve_href
from tests.case_files import read_rows

_PIECES = [
    "http://", "https://", "HTTP:", "//", "/", "\\", "@", ":", "[", "]", "::1", "%", "%2e", "%00", "..", ".", "?",
    "#", "a.example", "bücher.de", "１２７.1", "0x7f", "127.0.0.1", "2130706433", "\r\n", "\t", " ", "\u202e", "\ud800",
    "www.", "xn--", ":80", ":443", ":0", "user:secret", "localhost", "٣", "。", "＠", "／", "é",
]  # fmt: skip
_LONG = ("https://" + "a" * 300 + ".example", "https://example.com/" + "a" * 5000)
any_address = st.one_of(st.text(), st.lists(st.sampled_from(_PIECES), max_size=12).map("".join))


@pytest.mark.parametrize(("text", "expected"), read_rows("web/urls", "normalised"))
def test_a_url_has_one_normalised_form(text: str, expected: str) -> None:
    assert normalise_url(text) == expected


@pytest.mark.parametrize("text", [*read_rows("web/urls", "refused"), *_LONG])
def test_an_unusual_url_is_refused(text: str) -> None:
    with pytest.raises(SourceError) as caught:
        normalise_url(text)
    sentence = str(caught.value)
    assert sentence.isprintable()
    assert "secret" not in sentence
    assert sentence.endswith(".")
    assert len(sentence) < 250


@pytest.mark.parametrize(("link", "expected"), read_rows("web/urls", "links"))
def test_a_link_is_resolved_or_refused(link: str, expected: str) -> None:
    assert resolve_href("https://h.example/d/page.md", link) == (expected or None)


@given(any_address)
def test_every_parser_sees_the_same_host_in_an_accepted_url(text: str) -> None:
    try:
        address = normalise_url(text)
    except SourceError as error:
        assert str(error).isprintable()  # noqa: PT017 - either outcome is right
        return
    assert normalise_url(address) == address
    assert address.isascii()
    assert address.isprintable()
    assert " " not in address
    parts, other = urlsplit(address), httpx.URL(address)
    assert (parts.scheme, parts.hostname, parts.port) == (other.scheme, other.raw_host.decode(), other.port)
    assert not parts.username
    assert address.startswith(origin_of(address) + "/")
    assert parts.path == httpx.URL(address).raw_path.decode().partition("?")[0].replace("%27", "'")


@pytest.mark.parametrize(("allowed", "origin", "is_same"), read_rows("web/urls", "origins"))
def test_origins_of_the_same_site(allowed: str, origin: str, *, is_same: bool) -> None:
    assert covers_origin(allowed, origin) is is_same
    assert AllowedOrigins(approved=frozenset({allowed})).allows(f"{origin}/page") is is_same
    assert not AllowedOrigins(approved=frozenset({allowed})).may_be_local(f"{origin}/page")
    assert AllowedOrigins(typed=frozenset({allowed})).may_be_local(f"{origin}/page") is is_same
