"""Pictures of each screen, in each of its layouts."""

from pathlib import Path
from typing import Any

import pytest
from textual.widgets import OptionList

from roamtui.conversation.library_loader import ApprovalRequest
from roamtui.conversation.log import ConversationStore
from roamtui.models.registry import NoModel
from roamtui.search.searcher import Searcher
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.screens.conversations import ConversationsDialog
from roamtui.tui.screens.dialogs import ConfirmDialog
from roamtui.tui.screens.find import FindDialog
from tests.case_files import read_case
from tests.fakes.services import make_options
from tests.tui.driving import Compare, RunningApp, Scene, make_app, show_answer
from tests.tui.opening import Opener
from tests.tui.tabling import Tables, await_grid

_LARGE, _USUAL, _NARROW, _WIDE = (120, 35), (80, 24), (60, 20), (160, 40)


def _make_still_app(theme: str = "dusk", **given: Any) -> RoamApp:  # noqa: ANN401 - see `make_session`
    """Return an app without animation."""
    options = make_options(theme=theme)
    app = make_app(options=options, **given)
    app.animation_level = "none"
    return app


async def _show_source(ui: RunningApp) -> None:
    """Show a source of the answer in the reader."""
    await show_answer(ui)
    await ui.focus(Scope.CHAT).press_until(lambda: ui.main.reader_pane.title_line.note, "j", "enter")  # it comes last


_DIALECTS = read_case("dialects.md")


async def _show_dialects(ui: RunningApp) -> None:
    """Show containers, a formula, a diagram and a table in the reader."""
    await ui.press_until(lambda: ui.read_title, "tab", "enter", "enter")


async def _show_conversations(ui: RunningApp) -> None:
    """Show the list of conversations, one of three just deleted."""
    questions = ("What of steam?", "How often is the starter fed when the bakery is closed?", "How many loaves?")
    for question in questions:
        ui.model.add_replies("So.", "So.")
        await ui.press_until(lambda: not ui.exchanges, "ctrl+n")
        await ui.ask(question)
    await ui.press_until(ConversationsDialog, "f4")
    await ui.wait_until(lambda: ui.app.screen.query_one(OptionList).option_count > len(questions))
    await ui.press("j", "d")


async def _show_passages(ui: RunningApp) -> None:
    await ui.ask("How many loaves does an oven take?")
    assert len(ui.exchanges[-1].citations) > 1
    await ui.focus(Scope.CHAT).press("2")


async def _show_found(ui: RunningApp) -> None:
    """Show the marks of what was found in the outline."""
    await ui.press_until(FindDialog, "ctrl+f")
    screen = ui.app.screen
    assert isinstance(screen, FindDialog)
    ui.field.value = "how many loaves fit"
    await ui.wait_until(lambda: screen.found.query == "how many loaves fit" and screen.found.is_complete)
    await ui.press_until(lambda: ui.read_title, "down", "enter")


def press(*keys: str, until: str = "") -> Scene:
    """Return a scene that is reached by keys and `tree.unfold_all`, once the screen says the words of `until`."""

    async def show(ui: RunningApp) -> None:
        for key in keys:
            await (ui.run(key) if key == "tree.unfold_all" else ui.press(key))
            await ui.pause()
        await ui.wait_until(until)

    return show


_SCENES = {
    "start": (press(), (_WIDE,)),
    "outline": (press("tab", "tree.unfold_all", "j", "a", "j", "p", "j"), (_USUAL,)),
    "answer": (show_answer, (_USUAL, _NARROW)),
    "source": (_show_source, (_NARROW,)),
    "commands": (press("ctrl+p", *"conv", until="Start a conversation"), (_LARGE, _NARROW)),
}
"""Scenes of the bakery's handbook, with the sizes at which they are laid out differently."""


@pytest.mark.parametrize(
    ("name", "size"),
    [(name, size) for name, (_, sizes) in _SCENES.items() for size in sizes],
    ids=lambda value: value if isinstance(value, str) else "x".join(map(str, value)),
)
def test_screen(snap_compare: Compare, name: str, size: tuple[int, int]) -> None:
    scene, _ = _SCENES[name]
    assert snap_compare(_make_still_app(), terminal_size=size, run_before=scene)


def test_light_theme(snap_compare: Compare) -> None:
    """A light theme shows all that the main screen has, the reader beside the conversation."""
    assert snap_compare(_make_still_app("dawn"), terminal_size=_WIDE, run_before=_show_source)


def test_dialects(snap_compare: Compare) -> None:
    """Containers, a formula, a diagram and a table in the reader."""
    assert snap_compare(_make_still_app(text=_DIALECTS), terminal_size=_LARGE, run_before=_show_dialects)


def test_passages(snap_compare: Compare) -> None:
    """Without a model, the answer is cards. Keys of the selected one are in the last line."""
    app = _make_still_app(model=NoModel(), searcher=Searcher)
    assert snap_compare(app, terminal_size=_USUAL, run_before=_show_passages)


def test_found(snap_compare: Compare) -> None:
    assert snap_compare(_make_still_app(searcher=Searcher), terminal_size=_LARGE, run_before=_show_found)


def test_conversations(snap_compare: Compare, store: ConversationStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.tui.screens.conversations.format_time", lambda _moment: "2026-01-02 03:04")
    app = _make_still_app(store=store)
    assert snap_compare(app, terminal_size=_LARGE, run_before=_show_conversations)


def test_approval(snap_compare: Compare) -> None:
    question = "Allow this conversation to fetch pages from docs.example.org?"
    detail = "https://docs.example.org/guides/ovens/stone.md and 1 more"

    async def show(ui: RunningApp) -> None:
        ui.main.run_worker(ui.conversation.approver(ApprovalRequest(question=question, detail=detail, yes="Fetch")))
        await ui.wait_until(ConfirmDialog)

    assert snap_compare(_make_still_app(), terminal_size=_LARGE, run_before=show)


@pytest.mark.parametrize("size", [_LARGE, _NARROW], ids=lambda size: "x".join(map(str, size)))
def test_start_screen(
    snap_compare: Compare, size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    async def show(ui: RunningApp) -> None:
        await ui.wait_until("A handbook")

    assert snap_compare(Opener().make_app(theme="dusk"), terminal_size=size, run_before=show)


def test_table(snap_compare: Compare, tmp_path: Path) -> None:
    """A table with found, partly found and missing values, and the proof of the cell under the cursor."""
    filled = Tables(tmp_path)
    filled.fill()

    async def show(ui: RunningApp) -> None:
        await await_grid(ui)
        await ui.press_until("three months", "down")

    assert snap_compare(filled.make_app("dusk"), terminal_size=_USUAL, run_before=show)
