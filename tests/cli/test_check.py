"""`roamtui check`."""

from __future__ import annotations

import json
import ntpath
import os
from pathlib import Path

import pytest

from tests.cli.conftest import RunCommand
from tests.fakes.site import FakeSite

HARD = "# Garden\n\n## Tools\n\n## Plots\n\n![](plot.png)\n"
SITE = {
    "/llms.txt": (
        "# Bikes\n\n> All about bikes.\n\n## Docs\n\n- [Renting](renting): how to rent\n"
        "- [Fees](fees.md): what it costs\n- [Gone](gone.md): nothing\n- [Far](http://127.0.0.1:1/a.md): elsewhere\n"
    ),
    "/renting": "<h1>Renting</h1><p>At the counter.",
    "/fees.md": "# Fees\n\nThey are low.\n",
}


def test_findings_have_lines_and_fixes(run: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "50%, old.md").write_text(HARD, "utf-8")
    found = run("check", "docs")
    assert found.code == 1
    assert found.out.splitlines()[:2] == [
        "docs/50%, old.md:3: S02 there is nothing below “Tools”. Add content or remove the heading.",
        "docs/50%, old.md:7: T04 an image under “Plots” has no description. Say what it shows.",
    ]
    annotations = run("check", "docs", "--format", "github", "--select", "S").out
    assert annotations.startswith("::warning file=docs/50%25%2C old.md,line=3,title=S02 empty-section::there is")
    assert run("check", "docs", "--json").out == run("check", "docs", "--format", "json").out
    data = run("check", "docs", "--format", "json", "--ignore", "empty-section").json
    assert (data["rules"], data["findings"][0]["doc"], data["findings"][0]["line"]) == ({"T04": 1}, "50%, old.md", 7)
    assert run("check", "docs", "--select", "Z9").code == 2


def test_a_file_on_another_windows_drive_has_its_full_path(
    run: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hard.md").write_text(HARD, "utf-8")
    monkeypatch.setattr(os.path, "relpath", lambda _: ntpath.relpath("D:\\hard.md", "C:\\"))
    assert run("check", tmp_path / "hard.md").out.startswith(f"{tmp_path / 'hard.md'}:3: S02")


def test_a_clean_document_has_no_findings(run: RunCommand, garden: Path) -> None:
    found = run("check", garden)
    assert (found.code, found.out.startswith("Score 100 of 100 (structure 100, ")) == (0, True)


def test_pages_are_fetched_on_request(run: RunCommand) -> None:
    with FakeSite(SITE) as site:
        assert run("check", site.origin).code == 0
        assert site.counts.paths == ["/llms.txt"]
        found = run("check", site.origin, "--fetch", "--format", "json")
    assert [(finding["code"], finding["line"]) for finding in found.json["findings"]] == [("X02", 7), ("X03", 9)]
    assert "--allow-origin http://127.0.0.1:1" in found.err


def test_questions_that_search_misses_are_reported(run: RunCommand, garden: Path, tmp_path: Path) -> None:
    texts = ("What does a late spade cost?", "How dear is bringing things home after the weekend?")
    lines = [json.dumps({"doc": garden.name, "question": text, "path": ["Tools"]}) for text in texts]
    questions = tmp_path / "questions.jsonl"
    questions.write_text("\n".join(lines), "utf-8")
    found = run("check", garden, "--questions", questions, "--format", "json")
    assert [(finding["code"], finding["line"]) for finding in found.json["findings"]] == [("Q01", 17)]
    assert found.json["parts"]["questions"] == 75
