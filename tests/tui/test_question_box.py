"""The question box by itself."""

from __future__ import annotations

from textual import events, on
from textual.app import App, ComposeResult
from typing_extensions import override

from roamtui.tui.question_box import QuestionBox
from roamtui.tui.themes import derive_defaults
from tests.real_documents import PROJECT_DIR
from tests.tui.driving import running


class BoxApp(App[None]):
    CSS_PATH = PROJECT_DIR / "roamtui/tui/app.tcss"

    def __init__(self, *history: str) -> None:
        super().__init__()
        self.box = QuestionBox(history)
        self.sent: list[str] = []

    @override
    def get_theme_variable_defaults(self) -> dict[str, str]:
        return derive_defaults(self.current_theme)

    @override
    def compose(self) -> ComposeResult:
        yield self.box

    @on(QuestionBox.Submitted)
    def note_sent(self, event: QuestionBox.Submitted) -> None:
        self.sent.append(event.question)


async def test_up_and_down_walk_the_history_at_the_edges_and_keep_the_draft() -> None:
    async with running(BoxApp("first", "second\nin two lines")) as (app, pilot):
        await pilot.press("d", "up")
        assert app.box.text == "second\nin two lines"
        await pilot.press("up")
        assert app.box.text == "second\nin two lines", "first the cursor goes up through the lines"
        await pilot.press("up")
        assert app.box.text == "first"
        await pilot.press("up")
        assert app.box.text == "first"
        await pilot.press("down", "down")
        assert app.box.text == "d"
        await pilot.press("down")
        assert app.box.text == "d"


async def test_a_paste_of_a_megabyte_is_refused_at_once_and_told() -> None:
    async with running(BoxApp()) as (app, pilot):
        app.box.fill("kept")
        app.box.post_message(events.Paste("x" * 1_000_000))
        await pilot.pause()
        assert "too long" in next(iter(app._notifications)).message
        assert app.box.text == "kept"
