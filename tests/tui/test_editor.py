"""How editors are told where to go."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.tui.editor import build_editor_command, choose_editor

FILE = Path("/d/a b.md")


@pytest.mark.parametrize(
    ("editor", "command"),
    [
        ("vim", ["vim", "+7", "/d/a b.md"]),
        ("/usr/bin/nvim -R", ["/usr/bin/nvim", "-R", "+7", "/d/a b.md"]),
        ("hx", ["hx", "/d/a b.md:7"]),
        ("code --wait", ["code", "--wait", "--goto", "/d/a b.md:7"]),
        ("'/my apps/ed it'", ["/my apps/ed it", "/d/a b.md"]),
    ],
)
def test_the_line_is_told_in_each_editors_way(editor: str, command: list[str]) -> None:
    assert build_editor_command(editor, FILE, 7) == command


def test_visual_goes_before_editor() -> None:
    assert choose_editor({"VISUAL": "a", "EDITOR": "b"}) == "a"
    assert choose_editor({"VISUAL": "", "EDITOR": "b"}) == "b"
    assert choose_editor({}) is None
