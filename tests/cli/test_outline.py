"""`roamtui outline` and `roamtui show`, as other programs use them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import GARDEN, RunCommand

KEYS = {
    *("id", "kind", "level", "title", "path", "doc", "url", "parent"),
    *("start_line", "end_line", "own_end_line", "page", "page_end", "tokens", "own_tokens"),
}


def test_the_outline_is_the_text_that_a_model_reads(run: RunCommand, garden: Path) -> None:
    result = run("outline", garden)
    assert result.code == 0
    assert re.match(r"Outline of \[[0-9a-f]{8}\] Garden manual \(11 of 87\)\n", result.out)
    assert re.search(r"\n- \[[0-9a-f]{8}\] Plots \(18 of 58\): Watering; Compost\n", result.out)
    assert result.err == ""


def test_the_budget_bounds_the_outline(run: RunCommand, tmp_path: Path) -> None:
    path = tmp_path / "long.md"
    path.write_text("".join(f"# Heading {number}\n\nText.\n\n" for number in range(300)), "utf-8")
    small, large = run("outline", path).out, run("outline", path, "--budget", "9000").out
    assert len(small) < 1_000 < len(large)
    assert re.search(r"\[[0-9a-f]{8}:c1\] Heading 0 … Heading \d+ \(\d+ sections, \d+\)", small)
    assert "Heading 299 (" in large


def test_json_lists_every_section_with_its_place(run: RunCommand, garden: Path) -> None:
    data = run("outline", garden, "--json").json
    assert data["title"] == "Garden manual"
    assert data["source"] == str(garden)
    assert all(set(section) == KEYS for section in data["sections"])
    watering = data["sections"][2]
    plots = data["sections"][1]
    assert watering["title"] == "Watering"
    assert watering["path"] == ["Garden manual", "Plots", "Watering"]
    assert (watering["kind"], watering["level"], watering["doc"], watering["url"]) == ("section", 3, "", None)
    assert watering["parent"] == plots["id"]
    assert (plots["start_line"], plots["own_end_line"], plots["end_line"]) == (5, 8, 16)


def test_own_lines_of_the_json_join_to_the_document(run: RunCommand, garden: Path) -> None:
    sections = run("outline", garden, "--json").json["sections"]
    lines = GARDEN.splitlines(keepends=True)
    joined = "".join("".join(lines[s["start_line"] - 1 : s["own_end_line"]]) for s in sections)
    assert joined == GARDEN


def test_show_gives_raw_subtrees_in_the_order_asked_for(run: RunCommand, garden: Path) -> None:
    sections = {s["title"]: s["id"] for s in run("outline", garden, "--json").json["sections"]}
    result = run("show", garden, sections["Tools"], sections["Plots"])
    tools = GARDEN[GARDEN.index("## Tools") :]
    plots = GARDEN[GARDEN.index("## Plots") : GARDEN.index("## Tools")]
    assert result.out == tools + plots


def test_show_keeps_carriage_returns_and_escapes_outside_a_terminal(run: RunCommand, tmp_path: Path) -> None:
    path = tmp_path / "odd.md"
    path.write_bytes(b"# A\r\n\x1b[31mred\x1b[0m\r\n")
    section_id = run("outline", path, "--json").json["sections"][0]["id"]
    assert run("show", path, section_id).out == "# A\r\n\x1b[31mred\x1b[0m\r\n"


def test_every_id_of_an_outline_can_be_shown(run: RunCommand, tmp_path: Path) -> None:
    path = tmp_path / "wide.md"
    path.write_text("".join(f"# Heading {number}\n\nText.\n\n" for number in range(300)), "utf-8")
    ranges = re.findall(r"\[([0-9a-f]{8}:c\d+)\]", run("outline", path, "--budget", "1000").out)
    assert len(ranges) > 1
    assert run("show", path, *ranges).out == path.read_text("utf-8")
    root_id = ranges[0].partition(":")[0]
    assert run("show", path, root_id).out == path.read_text("utf-8")
    unknown = run("show", path, ranges[0], f"{root_id}:c{len(ranges) + 1}")
    assert (unknown.code, unknown.out) == (1, "")


def test_pages_of_a_long_section_are_shown_one_by_one(run: RunCommand, tmp_path: Path) -> None:
    path = tmp_path / "long.md"
    path.write_text("# Long\n\n" + "A line of many words, again and again.\n\n" * 1500, "utf-8")
    section_id = run("outline", path, "--json").json["sections"][0]["id"]
    pages = [run("show", path, f"[{section_id}:{number}]") for number in range(1, 6)]
    count = sum(page.code == 0 for page in pages)
    assert 1 < count < 5
    assert "".join(page.out for page in pages) == path.read_text("utf-8")
    assert run("show", path, f"{section_id}:0").code == 1


def test_an_unknown_id_shows_nothing_and_says_what_to_do(run: RunCommand, garden: Path) -> None:
    good = run("outline", garden, "--json").json["sections"][0]["id"]
    result = run("show", garden, good, "00000000")
    assert (result.code, result.out) == (1, "")
    assert result.err == 'roamtui: There is no section "00000000". `roamtui outline SOURCE` lists the ids.\n'


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        (b"", []),
        (b"\n\n\n", ["text"]),
        (b"just words\n", ["text"]),
        (b"---\ntitle: T\n---\n", ["preamble"]),
        (b"intro\n\n# H\n", ["preamble", "section"]),
    ],
)
def test_a_document_without_headings_still_has_sections(
    run: RunCommand, tmp_path: Path, content: bytes, kinds: list[str]
) -> None:
    path = tmp_path / "x.md"
    path.write_bytes(content)
    result = run("outline", path, "--json")
    assert result.code == 0
    assert [section["kind"] for section in result.json["sections"]] == kinds
    assert run("outline", path).code == 0


def test_what_was_replaced_is_said(run: RunCommand, tmp_path: Path) -> None:
    path = tmp_path / "latin.md"
    path.write_bytes("# Caf\xe9\n".encode("latin-1"))
    result = run("outline", path, "--json")
    assert result.json["sections"][0]["title"] == "Caf\N{REPLACEMENT CHARACTER}"
    assert "latin.md: 1 characters are not valid UTF-8" in result.err
