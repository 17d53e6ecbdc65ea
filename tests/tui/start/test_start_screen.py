"""The start screen: filtering, naming, opening, failing and leaving."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest
from textual.widgets import Input

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import PageReport
from roamtui.tui.screens.overlays import ConfirmScreen
from roamtui.tui.start.start_app import StartApp, Started
from tests.tui.driving import wait_until
from tests.tui.start.offering import make_start_app


class Opener:
    """Takes note of what is opened; what begins with "bad" is refused."""

    def __init__(self) -> None:
        self.opened: list[tuple[str, bool]] = []
        self.gate = Event()
        self.gate.set()
        self.pages_read = Event()

    def open(self, source: str, is_whole: bool, report: PageReport) -> str:  # noqa: FBT001 - as the start screen calls it
        self.opened.append((source, is_whole))
        self.gate.wait(30)
        if source.endswith(".pdf"):
            self._convert(report)
        if "bad" in source:
            raise SourceError(f"{source} cannot be read: it is bad.")
        return f"opened {source}"

    def _convert(self, report: PageReport) -> None:
        """Read the seventh page of 1,200 for as long as that is wanted."""
        try:
            report(7, 1_200, "".join(f"· {page} ·\n\nWords of page {page}\n\n" for page in range(1, 8)))
            while True:
                report(7, 1_200, "")
                self.pages_read.wait(0.01)
        finally:
            self.pages_read.set()


@pytest.fixture
def opener() -> Opener:
    return Opener()


@pytest.fixture
def app(opener: Opener) -> StartApp[str]:
    return make_start_app(opener.open)


def text_of(app: StartApp[str]) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


async def test_the_first_offer_is_chosen_and_opened_by_enter(app: StartApp[str], opener: Opener) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_until(pilot, lambda: "What of fees?" in text_of(app))
        assert "[red]Odd[/]" in text_of(app)
        await pilot.press("enter")
        await wait_until(pilot, lambda: app.return_value is not None)
    assert app.return_value == Started(source="/d/fees.md", conversation_id="c1", opened="opened /d/fees.md")
    assert opener.opened == [("/d/fees.md", True)]


async def test_typing_filters_and_arrows_choose(app: StartApp[str], opener: Opener) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_until(pilot, lambda: "What of fees?" in text_of(app))
        await pilot.press(*"to")
        await pilot.pause()
        assert "What of fees?" not in text_of(app)
        await pilot.press("down", "enter")
        await wait_until(pilot, lambda: app.return_value is not None)
    assert opener.opened == [("https://odd.example/llms.txt", False)]


async def test_a_conversion_tells_its_pages_which_can_be_read_and_ends_where_it_is_stopped(
    app: StartApp[str], opener: Opener, tmp_path: Path
) -> None:
    (tmp_path / "a.pdf").touch()
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_until(pilot, lambda: "What of fees?" in text_of(app))
        app.screen.query_one(Input).value = str(tmp_path / "a.pdf")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "7 of 1,200" in text_of(app) and "Words of page 1" in text_of(app))
        assert "What of fees?" not in text_of(app)
        await pilot.press("down", "down")
        await wait_until(pilot, lambda: "Words of page 7" in text_of(app))
        await pilot.press("escape")
        await wait_until(pilot, opener.pages_read.is_set)
        await wait_until(pilot, lambda: "of page" not in text_of(app))
        assert "7 of 1,200" not in text_of(app)
        assert app.return_value is None


async def test_what_was_named_is_opened_at_once_and_a_failure_ends_the_screen(opener: Opener) -> None:
    app = make_start_app(opener.open, source="/d/fees.md")
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_until(pilot, lambda: app.return_value is not None)
    assert app.return_value == Started(source="/d/fees.md", conversation_id=None, opened="opened /d/fees.md")
    app = make_start_app(opener.open, source="/d/bad.md")
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_until(pilot, lambda: app.start_screen.failure is not None)
    assert app.return_value is None
    assert str(app.start_screen.failure) == "/d/bad.md cannot be read: it is bad."


async def test_a_click_opens(app: StartApp[str], opener: Opener) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_until(pilot, lambda: "A handbook" in text_of(app))
        line = next(y for y, row in enumerate(text_of(app).split("\n")) if "A handbook" in row)
        await pilot.click(offset=(8, line))
        await wait_until(pilot, lambda: app.return_value is not None)
    assert opener.opened == [("/d/handbook.md", False)]


async def test_a_file_that_is_there_goes_before_what_matches(
    app: StartApp[str], opener: Opener, tmp_path: Path
) -> None:
    file = tmp_path / "handbook.md"
    file.write_text("# x\n")
    async with app.run_test(size=(80, 24)) as pilot:
        app.screen.query_one(Input).value = str(file)
        await pilot.press("enter")
        await wait_until(pilot, lambda: app.return_value is not None)
    assert opener.opened == [(str(file), False)]


async def test_a_bare_name_is_asked_about_before_it_is_fetched(app: StartApp[str], opener: Opener) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        app.screen.query_one(Input).value = "site.example"
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        assert "https://site.example" in text_of(app)
        await pilot.press("n")
        await wait_until(pilot, lambda: app.screen is app.start_screen)
        assert opener.opened == []
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        await pilot.press("y")
        await wait_until(pilot, lambda: app.return_value is not None)
    assert opener.opened == [("https://site.example", False)]


async def test_what_cannot_be_opened_is_a_sentence_and_the_screen_stays(app: StartApp[str]) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        app.screen.query_one(Input).value = "https://bad"
        await pilot.press("enter")
        await wait_until(pilot, lambda: "https://bad cannot be read: it is bad." in text_of(app))
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen.query_one(Input).value == ""
        await pilot.press("escape")
    assert app.return_value is None


async def test_opening_says_so_and_can_be_left(app: StartApp[str], opener: Opener) -> None:
    opener.gate.clear()
    try:
        async with app.run_test(size=(80, 24)) as pilot:
            app.screen.query_one(Input).value = "https://slow"
            await pilot.press("enter")
            await wait_until(pilot, lambda: "opening https://slow" in text_of(app))
            await pilot.press("escape")
            await wait_until(pilot, lambda: "opening" not in text_of(app))
            opener.gate.set()
            await pilot.pause()
            assert app.return_value is None
    finally:
        opener.gate.set()
