"""`roamtui ask --within`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import RunCommand


@pytest.mark.parametrize("form", ["{}", "[{}]"])
def test_only_the_section_is_searched(run: RunCommand, garden: Path, form: str) -> None:
    sections = {s["title"]: s["id"] for s in run("outline", garden, "--json").json["sections"]}
    question = "What costs something?"
    everywhere = run("ask", garden, question, "--json").json
    assert sections["Tools"] in everywhere["opened"]
    within = run("ask", garden, question, "--within", form.format(sections["Plots"]), "--json").json
    assert {result["id"] for result in within["steps"][0]["results"]} <= {
        sections["Plots"],
        sections["Watering"],
        sections["Compost"],
    }
    assert within["steps"][0]["results"]
    exchange = run("conversations", "show", within["conversation"], "--format", "json").json["exchanges"][0]
    assert exchange["within"] == sections["Plots"]


def test_an_unknown_section_is_told_and_nothing_is_kept(run: RunCommand, garden: Path) -> None:
    result = run("ask", garden, "What costs something?", "--within", "00000000")
    assert (result.code, result.out) == (1, "")
    assert result.err == 'roamtui: There is no section "00000000". `roamtui outline SOURCE` lists the ids.\n'
    assert run("conversations").out == "No conversations yet.\n"
