"""Pictures of each screen, in each of its layouts."""

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from roamtui.conversation.library_loader import ApprovalRequest
from roamtui.conversation.log import ConversationStore
from roamtui.models.registry import NoModel
from tests.sources.convert.sample_pdf import lay_out, make_pdf
from tests.sources.sample_pictures import make_png
from tests.tui.driving import press_until, wait_until
from tests.tui.opening import Opener
from tests.tui.picturing import (
    DIALECTS,
    LARGE,
    NARROW,
    USUAL,
    WIDE,
    Compare,
    Scene,
    make_reading_app,
    make_searching_app,
    make_still_app,
    name_size,
    press,
    show_answer,
    show_approval,
    show_conversations,
    show_dialects,
    show_focus_mode,
    show_found,
    show_look,
    show_passages,
    show_picture,
    show_source,
    show_start,
)
from tests.tui.tabling import Tables, await_grid

_SCENES = {
    "start": (show_start, (WIDE, USUAL, NARROW)),
    "outline": (press("escape", "tree.unfold_all", "j", "a", "j", "p", "j"), (USUAL,)),
    "answer": (show_answer, (USUAL, NARROW)),
    "source": (show_source, (LARGE, NARROW)),
    "help": (press("f1"), (LARGE, NARROW)),
    "commands": (press("ctrl+p", *"conv", until="Start a new conversation"), (LARGE,)),
}
"""Scenes of the bakery's handbook, with the sizes at which they are laid out differently."""


@pytest.mark.parametrize(
    ("name", "size"),
    [(name, size) for name, (_, sizes) in _SCENES.items() for size in sizes],
    ids=lambda value: value if isinstance(value, str) else name_size(value),
)
def test_screen(snap_compare: Compare, name: str, size: tuple[int, int]) -> None:
    scene, _ = _SCENES[name]
    assert snap_compare(make_still_app("dusk"), terminal_size=size, run_before=scene)


@pytest.mark.parametrize("theme", ["dawn", "dusk"])
def test_theme(snap_compare: Compare, theme: str) -> None:
    """A light and a dark theme show all that the main screen has, the reader beside the conversation."""
    assert snap_compare(make_still_app(theme), terminal_size=WIDE, run_before=show_source)


@pytest.mark.parametrize("scene", [show_dialects, show_focus_mode], ids=["panes", "focus mode"])
def test_dialects(snap_compare: Compare, scene: Scene) -> None:
    """Containers, a formula, a diagram and a table in the reader; focus mode is one column of text."""
    assert snap_compare(make_still_app("dusk", text=DIALECTS), terminal_size=LARGE, run_before=scene)


def test_picture(snap_compare: Compare, tmp_path: Path) -> None:
    """A picture is drawn above its words."""
    pytest.importorskip("PIL")
    stripes = [(200, 60, 50), (240, 200, 80), (60, 160, 90), (50, 110, 190)]
    (tmp_path / "stripes.png").write_bytes(make_png(160, 128, *stripes))
    guide = tmp_path / "guide.md"
    guide.write_text("# Guide\n\nFour colours:\n\n![Four stripes](stripes.png)\n\nAnd more words.\n")
    assert snap_compare(make_reading_app("dusk", guide), terminal_size=WIDE, run_before=show_picture)


def test_page(snap_compare: Compare, tmp_path: Path) -> None:
    """A page of a PDF fills the screen."""
    (tmp_path / "boats.pdf").write_bytes(make_pdf([lay_out("# Boats", "", "A boat floats.")]))
    app = make_reading_app("dusk", tmp_path / "boats.pdf")
    assert snap_compare(app, terminal_size=USUAL, run_before=show_look)


def test_passages(snap_compare: Compare) -> None:
    """Without a model, the answer is cards. Keys of the selected one are in the last line."""
    app = make_searching_app("dusk", NoModel())
    assert snap_compare(app, terminal_size=USUAL, run_before=show_passages)


def test_found(snap_compare: Compare) -> None:
    assert snap_compare(make_searching_app("dusk"), terminal_size=LARGE, run_before=show_found)


def test_conversations(snap_compare: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.tui.screens.conversations._format_time", lambda _moment: "2026-01-02 03:04")
    app = make_still_app("dusk", store=ConversationStore(tmp_path / "conversations"))
    assert snap_compare(app, terminal_size=LARGE, run_before=show_conversations)


def test_approval(snap_compare: Compare) -> None:
    question = "Allow this conversation to fetch pages from docs.example.org?"
    detail = "https://docs.example.org/guides/ovens/stone.md and 1 more"
    scene = show_approval(ApprovalRequest(question=question, detail=detail, yes="Fetch"))
    assert snap_compare(make_still_app("dusk"), terminal_size=LARGE, run_before=scene)


@pytest.mark.parametrize("size", [LARGE, NARROW], ids=name_size)
def test_start_screen(
    snap_compare: Compare, size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    async def show(pilot: Pilot[Any]) -> None:
        await wait_until(pilot, "A handbook")
        await pilot.pause()

    assert snap_compare(Opener().make_app(theme="dusk"), terminal_size=size, run_before=show)


@pytest.mark.parametrize("size", [USUAL, WIDE], ids=name_size)
def test_table(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    """A table with found, partly found and missing values, and the proof of the cell under the cursor."""
    filled = Tables(tmp_path)
    filled.fill()

    async def show(pilot: Pilot[None]) -> None:
        await await_grid(pilot)
        await press_until(pilot, "three months", "down")

    assert snap_compare(filled.make_app("dusk"), terminal_size=size, run_before=show)
