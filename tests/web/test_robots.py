"""Rules of robots.txt decide as RFC 9309 says, and half a megabyte of them takes neither memory nor minutes."""

import tracemalloc

import pytest

from roamtui.web.robots import BYTES_MAX, Robots
from tests.case_files import read_rows

SITE = "https://docs.example"


@pytest.mark.parametrize(("rules", "path", "is_allowed"), read_rows("web/robots", "rules"))
def test_the_longest_rule_decides(rules: str, path: str, *, is_allowed: bool) -> None:
    assert Robots(f"User-agent: *\n{rules}".encode()).allows(SITE + path) is is_allowed


@pytest.mark.parametrize(("text", "is_allowed"), read_rows("web/robots", "groups"))
def test_the_groups_for_roamtui_decide_or_else_those_for_all(text: str, *, is_allowed: bool) -> None:
    assert Robots(text.encode()).allows(f"{SITE}/x") is is_allowed


def test_sitemaps_are_named_anywhere() -> None:
    robots = Robots(b"\xef\xbb\xbfsitemap: /a.xml # main\r\nUser-agent: a\rSitemap:https://b.example/b.xml\nNoise\n")
    assert robots.sitemaps == ["/a.xml", "https://b.example/b.xml"]


def test_of_a_huge_file_only_whole_lines_within_the_limit_are_read() -> None:
    start = "User-agent: *\nDisallow: /a\n"
    filler = "#" * (BYTES_MAX - len(start) - len("Disallow: /b") - 1)
    robots = Robots(f"{start}{filler}\nDisallow: /b/public\n".encode())
    assert robots.is_cut
    assert [robots.allows(f"{SITE}/{path}") for path in "ab"] == [False, True]


def test_rules_are_not_multiplied_by_user_agents() -> None:
    agents = "".join(f"User-agent: a{number}\n" for number in range(2_000))
    rules = "".join(f"Disallow: /{number}\n" for number in range(2_000))
    tracemalloc.start()
    try:
        robots = Robots(f"{agents}User-agent: *\n{rules}".encode())
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()
    assert not robots.allows(f"{SITE}/1999")
