"""A document that changes on disk: noticed, read again by a key or by itself, with all that was open and in view."""

import asyncio
import os
from pathlib import Path

import pytest

from roamtui.agent.agent import Agent
from roamtui.bootstrap import Bootstrap
from roamtui.conversation.conversation import Conversation
from roamtui.document.library import Library
from roamtui.errors import SourceError
from roamtui.launch import AppServices
from roamtui.search.searcher import Searcher
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.chat.chat_log import NoticeView
from roamtui.tui.reloader import Reloader
from tests.fakes.scripted_model import ScriptedModel, SlowModel
from tests.fakes.services import make_options, session_of
from tests.tui.driving import TEXT, RunningApp, expand, make_app, running

CHANGED = TEXT.replace("ninety loaves", "a hundred loaves").replace("### Starter", "### Flour\n\nRye.\n\n### Starter")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "bakery.md"
    path.write_text(TEXT, "utf-8")
    return path


def make_reading_app(*sources: Path, is_watching: bool = False) -> RoamApp:
    library, loader = Bootstrap().open([str(source) for source in sources])
    return make_app(
        library=library,
        loader=loader,
        searcher=Searcher,
        reload_library=Bootstrap().reload,
        reloads_on_change=is_watching,
    )


def write(file: Path, text: str) -> None:
    """Write the file as an editor does, a while later."""
    beside = file.with_suffix(".new")
    beside.write_text(text, "utf-8")
    os.utime(beside, ns=(7, 7))
    beside.replace(file)


def delete(file: Path) -> None:
    file.unlink()


def move(path: Path, place: Path) -> Path:
    place.parent.mkdir(exist_ok=True)
    return path.rename(place)


async def look(ui: RunningApp) -> None:
    """Come back to the app, as from an editor, when it is time to check the files again."""
    reloader = ui.main.background_work.reloader
    await ui.wait_until(lambda: not reloader._reloading.locked())
    reloader._next_check_at = 0.0
    await ui.main.run_worker(ui.main.background_work.check_for_changes()).wait()
    await ui.pause()


async def look_first(ui: RunningApp) -> None:
    """Come back to the app, and wait until it knows the files that it has read."""
    await look(ui)
    await ui.wait_until(lambda: ui.main.background_work.reloader.loaded is not None)


async def open_deck(ui: RunningApp) -> str:
    """Ask a question for which the model opens and quotes the deck oven; return its id."""
    deck = ui.find_id("Deck oven")
    await ui.ask("How many?", expand(deck), f'"The deck oven takes ninety loaves" [{deck}].')
    return deck


async def test_a_change_is_told_also_below_an_answer_and_read_by_a_key(file: Path) -> None:
    async with running(make_reading_app(file), (120, 35)) as ui:
        await look_first(ui)
        write(file, f"{CHANGED}\0")
        ui.main.background_work.reloader._next_check_at = 0.0
        deck = await open_deck(ui)
        await ui.wait_until("The text had changed on disk before this answer ended · f5 to reload")
        assert "Document changed on disk · f5 to reload" in ui.text
        assert "Flour" not in ui.text
        await ui.press_until("Reloaded", "f5")
        assert "1 NUL character shown as ␀" in ui.text
        state = ui.state
        assert tuple(state.open_sections) == (deck,)
        assert "a hundred loaves" in state.library.text_at(state.library.node(deck).span)
        assert "Document changed on disk" not in ui.text
        assert "◆ Deck oven" in ui.text
        await ui.press_until("No changes", "f5")
        (hit,) = await ui.main.agent.search.find("rye flour", 1)
        assert hit.section_id == ui.find_id("Flour")
        await ui.ask("And now?", f'"The deck oven takes a hundred loaves" [{deck}].')
        assert "a hundred loaves" in ui.model.requests[-1].messages[-1].text
        assert [exchange.citations[0].is_verified for exchange in ui.exchanges] == [False, True]


@pytest.mark.parametrize("is_watching", [False, True])
async def test_a_change_that_could_not_be_read_is_still_told(
    file: Path, monkeypatch: pytest.MonkeyPatch, *, is_watching: bool
) -> None:
    async with running(make_reading_app(file, is_watching=is_watching), (120, 35)) as ui:
        await look_first(ui)
        write(file, CHANGED)
        with monkeypatch.context() as patch:
            patch.setattr(ui.main.background_work.reloader, "_reload_library", _refuse)
            await look(ui)
            if not is_watching:
                await ui.press_until("Document changed on disk", "f5")
            await ui.wait_until("It is locked.")
        assert "Document changed on disk · f5 to reload" in ui.text
        await ui.press_until(lambda: "changed on disk" not in ui.text, "f5")
        assert "Reloaded" in ui.text


def _refuse(*_arguments: object) -> Library:
    raise SourceError("It is locked.")


async def test_reloading_a_deleted_file_says_so_and_keeps_what_was_read(file: Path) -> None:
    async with running(make_reading_app(file), (120, 35)) as ui:
        delete(file)
        await ui.press_until(lambda: bool(ui.chat.query(NoticeView)), "f5")
        assert "There is no file" in ui.chat.query_one(NoticeView).text
        assert ui.state.library.root.text == TEXT
        write(file, CHANGED)
        await ui.press_until("Reloaded", "f5")


async def test_a_file_that_was_moved_away_and_back_has_not_changed(file: Path) -> None:
    async with running(make_reading_app(file), (120, 35)) as ui:
        await look_first(ui)

        async def look_until(is_told: bool) -> None:  # noqa: FBT001
            def check() -> bool:
                ui.main.background_work.reloader._next_check_at = 0.0
                ui.main.run_worker(ui.main.background_work.check_for_changes())
                return ("Document changed on disk" in ui.text) is is_told

            await ui.wait_until(check)

        away = file.with_name("away.md")
        os.replace(file, away)  # noqa: PTH105 - as in a shell
        await look_until(is_told=True)
        os.replace(away, file)  # noqa: PTH105
        await look_until(is_told=False)


async def test_a_watched_file_that_is_deleted_is_told_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    async with running(make_reading_app(Path(file.name), is_watching=True), (120, 35)) as ui:
        await look_first(ui)
        delete(file)
        for _ in range(6):
            await look(ui)
        await ui.wait_until("There is no file")
        notice = ui.chat.query_one(NoticeView).text
        assert "what was read last" in notice
        assert "website" not in notice, "it was a file"
        await asyncio.to_thread(file.write_text, CHANGED, "utf-8")
        await look(ui)
        await ui.wait_until("Reloaded")


@pytest.mark.parametrize("is_folder", [False, True])
async def test_what_comes_in_place_of_what_was_gone_is_read_however_old_it_is(file: Path, *, is_folder: bool) -> None:
    docs = file.with_name("docs")
    file = move(file, docs / file.name) if is_folder else file
    source = docs if is_folder else file
    async with running(make_reading_app(source, is_watching=True), (120, 35)) as ui:
        await look_first(ui)
        away = move(source, source.with_name("away"))
        for _ in range(6):
            await look(ui)
        await ui.wait_until("what was read last")
        write(away / file.name if is_folder else away, CHANGED)
        move(away, source)
        await look(ui)
        await ui.wait_until(lambda: CHANGED in [each.text for each in ui.state.library.documents])


async def test_a_quote_that_is_gone_loses_its_tick_and_shows_what_changed(file: Path) -> None:
    async with running(make_reading_app(file), (120, 35)) as ui:
        await open_deck(ui)
        assert "[1 ✓]" in ui.text
        write(file, CHANGED)
        await ui.press_until("1 quote changed since the answer", "f5")
        assert "[1 ✗]" in ui.text
        assert "changed since" in ui.text
        await ui.focus(Scope.CHAT).press_until("a hundred loaves", "1", "enter")
        write(file, TEXT.replace("# ", "# Good ", 1))
        await ui.press_until(lambda: ui.exchanges[0].citations[0].is_verified, "f5")
        assert not ui.exchanges[0].citations[0].is_changed
        ui.focus(Scope.CHAT)
        await ui.wait_until("[1 ✓]")


@pytest.mark.parametrize(("is_watching", "names"), [(True, ("bakery.md",)), (False, ("bakery.md", "shop.md"))])
async def test_a_file_that_is_deleted_and_made_again_is_noticed(
    file: Path, names: tuple[str, ...], *, is_watching: bool
) -> None:
    (file.parent / "shop.md").write_text("# Shop\n", "utf-8")
    app = make_reading_app(*(file.parent / name for name in names), is_watching=is_watching)
    async with running(app, (120, 35)) as ui:
        await look_first(ui)
        delete(file)
        ui.main.background_work.reloader._next_check_at = 0.0
        await ui.main.background_work.reloader.check()
        write(file, CHANGED)
        await look(ui)
        if is_watching:
            await ui.wait_until(lambda: CHANGED in [each.text for each in ui.state.library.documents])
        else:
            await ui.wait_until("Document changed on disk · f5 to reload")


@pytest.mark.parametrize("is_folder", [True, False])
async def test_a_file_that_is_written_before_the_first_check_is_noticed(file: Path, *, is_folder: bool) -> None:
    file.with_name("shop.md").write_text("# Shop\n", "utf-8")
    session = AppServices(Bootstrap()).open((str(file.parent if is_folder else file),))
    reloader = Reloader(session)
    await asyncio.to_thread(file.write_text, CHANGED, "utf-8")
    assert await reloader.check()
    assert reloader.is_outdated
    words, _ = await reloader.reload()
    assert words.startswith("Reloaded")
    assert CHANGED in [document.text for document in session.conversation.state.library.documents]
    assert await reloader.reload() == ("No changes", [])


async def test_a_reload_ends_the_options_of_the_question_box_and_keeps_what_is_typed(file: Path) -> None:
    async with running(make_reading_app(file), (120, 35)) as ui:
        ui.main.questions.ask_about_section(ui.find_id("Deck oven"))
        ui.box.fill("How many?")
        assert "in Deck oven" in ui.text
        write(file, TEXT.replace("### Deck oven", "### Old oven"))
        await ui.press_until("Reloaded", "f5")
        assert "Deck oven" not in ui.text
        assert ui.box.text == "How many?"
        ui.model.add_replies("Not found: no.")
        await ui.press_until(lambda: ui.exchanges, "enter")
        assert ui.exchanges[0].within is None


async def test_the_cursor_the_reader_and_what_is_unfolded_stay(file: Path) -> None:
    long = "\n\n".join(f"Line {number} of the deck oven." for number in range(200))
    text = TEXT.replace("The deck oven takes ninety loaves.", long)
    write(file, text)
    async with running(make_reading_app(file), (160, 30)) as ui:
        deck = ui.find_id("Deck oven")
        await ui.go_to(deck)
        await ui.focus(Scope.TREE).reach("Deck oven", "enter")
        ui.reader.action_move(100)
        await ui.pause()
        before = ui.reader.render_line(0).text
        write(file, "Before all.\n\n" + text.replace("### Stone oven", "### Old oven"))
        await ui.press_until("Old oven", "f5")
        assert ui.outline.cursor_id == deck
        assert ui.read_title == "Deck oven"
        assert ui.reader.render_line(0).text == before
        assert ui.main.focused is ui.outline


async def test_watching_waits_for_the_end_of_an_answer_also_while_its_model_starts(file: Path) -> None:
    gate = asyncio.Event()
    async with running(make_reading_app(file, is_watching=True), (120, 35)) as ui:
        ui.main.agent.model = SlowModel(["Not found: no."], gate=gate)
        await ui.send("How many?", lambda: ui.main.is_asking)
        write(file, CHANGED)
        for _ in range(3):
            await look(ui)
        assert len(ui.state.library) == 8
        await ui.open_gate(gate)
        await look(ui)
        await ui.wait_until(lambda: len(ui.state.library) == 9)


async def test_a_source_that_is_added_while_the_document_is_read_again_stays(file: Path) -> None:
    other = file.with_name("other.md")
    other.write_text("# Other\n\nMore.\n", "utf-8")
    library, loader = Bootstrap().open([str(file)])
    conversation = Conversation(library, source_loader=loader, open_source=Bootstrap().open_added)
    loop = asyncio.get_running_loop()

    def read_slowly(before: Library, changed: frozenset[str]) -> Library:
        if not before.sources:
            asyncio.run_coroutine_threadsafe(conversation.add_source(str(other)), loop).result()
        return Bootstrap().reload(before, changed)

    agent = Agent(conversation, ScriptedModel())
    reloader = Reloader(session_of(agent, options=make_options(), reload_library=read_slowly))
    write(file, CHANGED)
    await reloader.reload()
    text = "".join(document.text for document in conversation.state.library.documents)
    assert "Rye." in text
    assert "More." in text
