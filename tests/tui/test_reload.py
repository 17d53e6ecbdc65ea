"""A document that changes on disk: noticed, read again by a key or by itself, with all that was open and in view."""

import asyncio
import os
from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot

from roamtui.bootstrap import Bootstrap
from roamtui.conversation.update import AskOptions
from roamtui.search.keyword import KeywordSearcher
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from tests.fakes.scripted_model import ScriptedReply, SlowModel
from tests.tui.driving import (
    TEXT,
    app_of,
    ask,
    expand,
    find_id,
    go_to,
    make_app,
    model_of,
    press_until,
    running,
    screen_text,
    wait_until,
)

CHANGED = TEXT.replace("ninety loaves", "a hundred loaves").replace("### Starter", "### Flour\n\nRye.\n\n### Starter")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "bakery.md"
    path.write_text(TEXT, "utf-8")
    return path


def make_reading_app(*sources: Path, is_watching: bool = False) -> RoamApp:
    names = [str(source) for source in sources]
    library, loader = Bootstrap().open(names)
    reload_library = partial(Bootstrap().reload, sources=names)
    return make_app(
        library=library,
        loader=loader,
        searcher=KeywordSearcher,
        reload_library=reload_library,
        reload_on_change=is_watching,
    )


def write(file: Path, text: str) -> None:
    """Write the file as an editor does, a while later."""
    beside = file.with_suffix(".new")
    beside.write_text(text, "utf-8")
    os.utime(beside, ns=(7, 7))
    beside.replace(file)


def delete(file: Path) -> None:
    file.unlink()


async def look(pilot: Pilot[None]) -> None:
    """Come back to the app, as from an editor."""
    app_of(pilot).main_screen.check_for_changes()
    await pilot.pause()


async def open_deck(pilot: Pilot[None]) -> str:
    """Ask a question for which the model opens and quotes the deck oven; return its id."""
    app = app_of(pilot)
    deck = find_id(app, "Deck oven")
    model_of(app).add_replies(expand(deck), ScriptedReply(text=f'"The deck oven takes ninety loaves" [{deck}].'))
    await ask(pilot, "How many?")
    return deck


async def test_a_change_is_told_and_read_by_a_key(file: Path) -> None:
    async with running(make_reading_app(file), (120, 35)) as (app, pilot):
        deck = await open_deck(pilot)
        write(file, f"{CHANGED}\0")
        await look(pilot)
        await wait_until(pilot, "Document changed on disk · f5 to reload")
        assert "Flour" not in screen_text(app)
        await press_until(pilot, "9 sections", "f5")
        assert "1 NUL character shown as ␀" in screen_text(app)
        state = app.main_screen.conversation.state
        assert tuple(state.open_sections) == (deck,)
        assert "a hundred loaves" in state.library.text_at(state.library.node(deck).span)
        assert "changed on disk" not in screen_text(app)
        assert "◆ Deck oven" in screen_text(app)
        await press_until(pilot, "No changes", "f5")
        (hit,) = await app.main_screen.app_context.agent.search("rye flour", 1)
        assert hit.section_id == find_id(app, "Flour")
        model = model_of(app)
        model.add_replies(ScriptedReply(text=f'"The deck oven takes a hundred loaves" [{deck}].'))
        await ask(pilot, "And now?")
        assert "a hundred loaves" in model.requests[-1].messages[-1].text
        assert [exchange.citations[0].is_verified for exchange in app.main_screen.conversation.state.exchanges] == [
            False,
            True,
        ]


async def test_a_quote_that_is_gone_loses_its_tick_and_shows_what_changed(file: Path) -> None:
    async with running(make_reading_app(file), (120, 35)) as (app, pilot):
        await open_deck(pilot)
        conversation = app.main_screen.conversation
        assert "[1 ✓]" in screen_text(app)
        write(file, CHANGED)
        await press_until(pilot, "1 quote changed since the answer", "f5")
        assert "[1 ✗]" in screen_text(app)
        assert "changed since" in screen_text(app)
        app.main_screen.panes.focus_scope(Scope.CHAT)
        await press_until(pilot, "a hundred loaves", "1", "enter")
        assert "[-ninety-]{+a hundred+}" in screen_text(app)
        write(file, TEXT.replace("# ", "# Good ", 1))
        await press_until(pilot, lambda: conversation.state.exchanges[0].citations[0].is_verified, "f5")
        assert not conversation.state.exchanges[0].citations[0].is_changed
        app.main_screen.panes.focus_scope(Scope.CHAT)
        await wait_until(pilot, "[1 ✓]")


@pytest.mark.parametrize("is_watching", [True, False])
@pytest.mark.parametrize("names", [("bakery.md",), ("bakery.md", "shop.md")])
async def test_a_file_that_is_deleted_and_made_again_is_noticed(
    file: Path, names: tuple[str, ...], *, is_watching: bool
) -> None:
    (file.parent / "shop.md").write_text("# Shop\n", "utf-8")
    app = make_reading_app(*(file.parent / name for name in names), is_watching=is_watching)
    async with running(app, (120, 35)) as (_, pilot):
        reloader = app.main_screen._reloader
        await look(pilot)
        await wait_until(pilot, lambda: reloader.loaded is not None)
        delete(file)
        reloader._next_check_at = 0.0
        await reloader.detect_change()
        write(file, CHANGED)
        reloader._next_check_at = 0.0
        await look(pilot)
        if is_watching:
            conversation = app.main_screen.conversation
            await wait_until(pilot, lambda: CHANGED in [each.text for each in conversation.state.library.documents])
        else:
            await wait_until(pilot, "Document changed on disk · f5 to reload")


async def test_a_reload_ends_the_options_of_the_question_box_and_keeps_what_is_typed(file: Path) -> None:
    async with running(make_reading_app(file), (120, 35)) as (app, pilot):
        screen = app.main_screen
        screen.questions.ask_about_section(find_id(app, "Deck oven"))
        screen.question_box.fill("How many?")
        assert "in Ovens › Deck oven" in screen_text(app)
        write(file, TEXT.replace("### Deck oven", "### Old oven"))
        await press_until(pilot, "Reloaded: ", "f5")
        assert "Deck oven" not in screen_text(app)
        assert screen.question_box.text == "How many?"
        model_of(app).add_replies(ScriptedReply(text="Not found: no."))
        await press_until(pilot, lambda: screen.conversation.state.exchanges, "enter")
        assert screen.conversation.state.exchanges[0].within is None


async def test_an_edited_question_whose_section_is_gone_leaves_the_old_one_and_returns_to_the_box(file: Path) -> None:
    async with running(make_reading_app(file), (120, 35)) as (app, pilot):
        screen, conversation = app.main_screen, app.main_screen.conversation
        deck = await open_deck(pilot)
        options = AskOptions(replaces=conversation.state.exchanges[0], within="ffffffff")
        screen.questions._send("How many now?", options)
        await wait_until(pilot, "The document no longer has a section that the question names")
        await wait_until(pilot, lambda: screen.question_box.text == "How many now?")
        assert [exchange.question for exchange in conversation.state.exchanges] == ["How many?"]
        assert "roamtui outline" not in screen_text(app)
        assert tuple(conversation.state.open_sections) == (deck,)


async def test_the_cursor_the_reader_and_what_is_unfolded_stay(file: Path) -> None:
    long = "\n\n".join(f"Line {number} of the deck oven." for number in range(200))
    text = TEXT.replace("The deck oven takes ninety loaves.", long)
    write(file, text)
    async with running(make_reading_app(file), (160, 30)) as (app, pilot):
        deck = find_id(app, "Deck oven")
        await go_to(pilot, deck)
        app.main_screen.panes.focus_scope(Scope.TREE)
        await press_until(pilot, lambda: app.main_screen.reader_pane.section_id == deck, "enter")
        app.main_screen.reader_pane.ensure_reader().action_move(100)
        await pilot.pause()
        reader = app.main_screen.reader_pane.ensure_reader()
        before = reader.render_line(0).text
        write(file, "Before all.\n\n" + text.replace("### Stone oven", "### Old oven"))
        await press_until(pilot, "Old oven", "f5")
        assert app.main_screen.tree_pane.outline.cursor_id == deck
        assert app.main_screen.reader_pane.section_id == deck
        assert reader.render_line(0).text == before
        assert app.main_screen.focused is app.main_screen.tree_pane.outline


async def test_watching_waits_for_the_end_of_an_answer_also_while_its_model_starts(file: Path) -> None:
    gate = asyncio.Event()
    async with running(make_reading_app(file, is_watching=True), (120, 35)) as (app, pilot):
        screen = app.main_screen
        app.main_screen.app_context.agent.model = SlowModel([ScriptedReply(text="Not found: no.")], gate=gate)
        screen.question_box.fill("How many?")
        await press_until(pilot, lambda: screen.is_asking, "enter")
        write(file, CHANGED)
        for _ in range(3):
            await look(pilot)
        assert len(screen.conversation.state.library) == 8
        gate.set()
        await wait_until(pilot, lambda: not screen.is_asking)
        await look(pilot)
        await wait_until(pilot, lambda: len(screen.conversation.state.library) == 9)


async def test_a_folder_is_watched_and_only_what_changed_is_another(file: Path) -> None:
    (file.parent / "shop.md").write_text("# Shop\n\n## Opening hours\n\nFrom eight.\n", "utf-8")
    async with running(make_reading_app(file.parent, is_watching=True), (120, 35)) as (app, pilot):
        session = app.main_screen.conversation
        deck = await open_deck(pilot)
        await look(pilot)
        await wait_until(pilot, lambda: app.main_screen._reloader.loaded is not None)
        shop = next(document for document in session.state.library.documents if document.key == "shop.md")
        write(file, CHANGED)
        (file.parent / "new.md").write_text("# News\n", "utf-8")
        await wait_until(pilot, "new.md")
        state = session.state
        assert tuple(state.open_sections) == (deck,)
        assert "a hundred loaves" in state.library.text_at(state.library.node(deck).span)
        assert any(document is shop for document in state.library.documents)


async def test_an_unread_file_that_an_editor_replaced_is_read_after_a_reload(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roamtui.bootstrap._LOADED_AT_START_BYTES", 0)
    async with make_reading_app(file.parent).run_test(size=(120, 35)) as pilot:
        app = app_of(pilot)
        session = app.main_screen.conversation
        assert session.state.library.unloaded_files
        await wait_until(pilot, lambda: app.main_screen.is_mounted)
        write(file, CHANGED)
        await press_until(pilot, "No changes", "f5")
        await session.library_loader.load_all()
        [document] = [document for document in session.state.library.documents if document.key == "bakery.md"]
        assert document.text == CHANGED
