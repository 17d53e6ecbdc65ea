"""`roamtui conversations` and `roamtui search`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import RunCommand


def test_conversations_are_listed_newest_first(run: RunCommand, garden: Path) -> None:
    assert run("conversations").out == "No conversations yet.\n"
    first = run("ask", garden, "How long is a plot?", "--json").json["conversation"]
    second = run("ask", garden, "When is the tap locked?", "--json").json["conversation"]
    lines = run("conversations", "list").out.splitlines()
    assert [line.split()[0] for line in lines] == [second, first]
    assert "How long is a plot?" in lines[1]
    assert "1 question," in lines[1]
    listed = run("conversations", "list", "--format", "json").json
    assert [entry["id"] for entry in listed] == [second, first]


def test_a_conversation_is_exported_as_markdown_and_json(run: RunCommand, garden: Path) -> None:
    conversation = run("ask", garden, "How long is a plot?", "--json").json["conversation"]
    text = run("conversations", "export", conversation).out
    assert text.startswith("# How long is a plot?\n")
    assert "## How long is a plot?" in text
    assert "ten metres" in text
    assert str(garden) in text
    data = run("conversations", "show", conversation, "--format", "json").json
    assert data["exchanges"][0]["question"] == "How long is a plot?"
    assert data["exchanges"][0]["citations"][0]["verified"] is True


def test_a_deleted_conversation_is_gone(run: RunCommand, garden: Path) -> None:
    conversation = run("ask", garden, "How long is a plot?", "--json").json["conversation"]
    assert run("conversations", "delete", conversation).code == 0
    assert run("conversations", "show", conversation).code == 1
    assert run("conversations", "delete", conversation).code == 1


def test_search_ranks_sections(run: RunCommand, garden: Path) -> None:
    data = run("search", garden, "late spade", "--json").json
    assert data["mode"] == "keyword"
    hit = data["hits"][0]
    assert set(hit) == {"id", "doc", "path", "score", "start_line", "end_line", "snippet", "why"}
    assert hit["path"] == ["Garden manual", "Tools"]
    assert hit["snippet"] == "A late spade costs 50 cents a day."
    assert (hit["start_line"], hit["end_line"]) == (17, 19)


def test_search_prints_a_line_a_person_can_read(run: RunCommand, garden: Path) -> None:
    out = run("search", garden, "compost", "--limit", "1").out
    assert out.startswith("1. [")
    assert "Garden manual > Plots > Compost (lines 13-16)" in out
    assert run("search", garden, "zebra").out.startswith("Nothing found.")
