"""`roamtui index --to URI`, and what searches in it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.cli.conftest import RunCommand
from tests.evaluation.folders import write_folder

pytestmark = pytest.mark.skipif(importlib.util.find_spec("lancedb") is None, reason="LanceDB is not installed")


def test_an_index_is_written_searched_brought_up_to_date_and_deleted(
    run: RunCommand, garden: Path, tmp_path: Path
) -> None:
    uri = tmp_path / "database"
    written = run("index", garden, "--to", uri)
    assert written.code == 0
    assert written.out.startswith("1 document, 5 sections, 5 of them new or changed; ")
    assert written.out.endswith(f" MB in {uri}\n")

    hits = run("search", garden, "late spade", "--index", uri, "--json").json["hits"]
    assert hits[0]["path"][-1] == "Tools"
    answer = run("ask", garden, "What does a late spade cost?", "--index", uri).out
    assert "A late spade costs 50 cents a day" in answer

    garden.write_text(garden.read_text("utf-8") + "\n## Bees\n\nTwo hives.\n", "utf-8")
    assert run("index", garden, "--to", uri).out.startswith("1 document, 6 sections, 6 of them")
    assert run("index", garden, "--to", uri).out.startswith("1 document, 6 sections, 0 of them")
    assert run("index", garden, "--to", uri, "--delete").out == f"Deleted the index in {uri}\n"
    assert run("index", garden, "--to", uri, "--delete").out == f"There is no index in {uri}\n"


def test_several_sources_are_one_library(run: RunCommand, garden: Path, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "docs")
    assert run("index", garden, folder, "--to", tmp_path / "database").out.startswith("3 documents, ")
    assert "0 of them new" in run("index", garden, folder, "--to", tmp_path / "database").out


@pytest.mark.parametrize("command", ["search", "ask"])
def test_what_cannot_be_opened_is_told(
    run: RunCommand, garden: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LANCEDB_API_KEY", raising=False)
    result = run(command, garden, "spade", "--index", "db://x")
    assert result.code == 1
    assert result.err.startswith("roamtui: The index db://x cannot be used: ")


def test_an_unknown_scheme_is_told(run: RunCommand, garden: Path) -> None:
    assert "cannot be used" in run("index", garden, "--to", "nosuchscheme://x").err
    assert run("index", "-", "--to", "nosuchscheme://x").code == 1
