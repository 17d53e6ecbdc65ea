"""The table on the screen: filling it, looking at its proofs, and exporting it."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest
from typing_extensions import override

from roamtui.conversation.citations import CHANGED_LABEL
from roamtui.errors import ModelError
from roamtui.models.base import ModelRequest
from roamtui.table.store import ResultTable, read_table
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.context import TableSession
from roamtui.tui.messages import DocumentRequested
from roamtui.tui.screens.dialogs import ConfirmDialog, PromptDialog
from roamtui.tui.screens.main import MainScreen
from roamtui.tui.screens.table import TableGrid, TableScreen
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply, SlowModel
from tests.fakes.services import make_options
from tests.table.filling import PERIOD, answer, answering_model
from tests.tui.driving import RunningApp, make_app, running
from tests.tui.tabling import HEATING, Tables, await_grid


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    return Tables(tmp_path)


@pytest.fixture
def filled(tables: Tables) -> Tables:
    tables.fill()
    return tables


@asynccontextmanager
async def showing(tables: Tables, size: tuple[int, int] = (100, 24)) -> AsyncIterator[RunningApp]:
    async with running(tables.make_app(), size) as ui:
        await await_grid(ui)
        yield ui


@asynccontextmanager
async def filling(tables: Tables) -> AsyncIterator[RunningApp]:
    """Fill two of six cells, and wait for the model's answers for the others."""
    held = ScriptedReply(text="Not found: x.", gate=asyncio.Event())
    tables.model = ScriptedModel([lambda asked: answer(asked) if PERIOD in asked.messages[-1].text else held] * 20)
    async with showing(tables) as ui:
        await ui.press_until(ConfirmDialog, "r")
        await ui.press_until("2 of 6 cells", "y")
        yield ui


async def _answer_prompt(ui: RunningApp, words: str) -> None:
    await ui.wait_until(PromptDialog)
    ui.field.value = words
    await ui.press_until(lambda: not isinstance(ui.app.screen, PromptDialog), "enter")


async def test_a_table_opens_from_its_folder_and_shows_values_states_and_proof(filled: Tables) -> None:
    async with showing(filled) as ui:
        await ui.wait_until("60 days")
        assert "Lease of Anna › Notice › line 5 · quote found in the text" in ui.text
        await ui.press_until("expected yes or no", "right", "down")
        await ui.press_until("– Not found: I looked for it everywhere.", "right")
        grid = ui.app.screen.query_one(TableGrid)
        for key, row in (("home", 0), ("end", 1), ("home", 0)):
            await ui.press_until(lambda row=row: grid.cursor_row == row, key)  # type: ignore[misc]


@pytest.mark.parametrize("size", [(60, 20), (40, 12), (30, 8)])
async def test_a_small_table_shows_its_first_row_and_the_quote_of_a_cell(filled: Tables, size: tuple[int, int]) -> None:
    async with showing(filled, size) as ui:
        await ui.wait_until(lambda: "60 days" in ui.text and ui.text.count("How long") > 1)


async def test_a_quote_gets_the_lines_that_the_value_leaves_free(tables: Tables) -> None:
    period = "60 days from the day on which the letter arrives" + " at the office or the flat of the landlord" * 4
    lease = tables.leases / "anna.md"
    lease.write_text(lease.read_text("utf-8").replace("60 days", period), "utf-8")

    def quote_all(asked: ModelRequest) -> ScriptedReply:
        return ScriptedReply(text=answer(asked).text.replace("is 60 days", f"is {period}"))

    tables.model = ScriptedModel([quote_all] * 20)
    async with showing(tables, (100, 40)) as ui:
        await ui.press_until(ConfirmDialog, "r")
        await ui.press_until("6 of 6 cells", "y")
        await ui.wait_until(f"The notice period is {period}")


async def test_what_is_missing_is_asked_while_the_grid_is_shown(tables: Tables) -> None:
    gate = asyncio.Event()

    def answer_later(request: ModelRequest) -> ScriptedReply:
        reply = answer(request)
        return ScriptedReply(text=reply.text, gate=gate) if "Are pets" in request.messages[-1].text else reply

    tables.model = ScriptedModel([answer_later] * 20)
    async with showing(tables, (70, 24)) as ui:
        assert tables.model.requests == []
        await ui.press_until(ConfirmDialog, "r")
        assert "6 cells · ~6.1k tokens" in ui.text
        assert "asking:" not in ui.text
        assert tables.model.requests == []
        await ui.press_until(lambda: "three months" in ui.text and "60 days" in ui.text, "y")
        assert "asking:" in ui.text
        assert "one cat" not in ui.text
        gate.set()
        await ui.wait_until(lambda: "6 of 6 cells" in ui.text and "asking:" not in ui.text)
        assert "one cat" in ui.text
        assert "2 not found" in ui.text, "a long head takes a second line"


async def test_a_failed_question_names_its_document_and_the_key_that_chooses_a_model(tables: Tables) -> None:
    def fail_first_cell(asked: ModelRequest) -> ScriptedReply:
        is_first_cell = "The notice period is 60 days" in asked.messages[-1].text and PERIOD in asked.messages[-1].text
        return ScriptedReply(error=ModelError("Choose another model with --model.")) if is_first_cell else answer(asked)

    tables.model = ScriptedModel([fail_first_cell] * 20)
    async with showing(tables) as ui:
        await ui.press_until(ConfirmDialog, "r")
        await ui.press_until("1 question failed. anna.md: Choose another model with f2 in the document,", "y")
        assert "then open the table again." in ui.text
        assert "--model" not in ui.text


async def test_a_missing_key_is_told_before_the_table_asks_whether_to_ask_the_model(tables: Tables) -> None:
    class KeylessModel(ScriptedModel):
        @override
        async def check(self) -> None:
            raise ModelError("OpenAI needs a key.")

    tables.model = KeylessModel()
    async with showing(tables) as ui:
        await ui.press("r")
        await ui.wait_until(lambda: "OpenAI needs a key." in ui.text or isinstance(ui.app.screen, ConfirmDialog))
        assert isinstance(ui.app.screen, TableScreen)


async def test_every_problem_of_a_run_is_shown(tables: Tables) -> None:
    missing = tables.leases / "anna.md"
    tables.model = ScriptedModel([ScriptedReply(error=ModelError("It is busy."))] * 20)
    async with showing(tables) as ui:
        missing.unlink()
        await ui.press_until(ConfirmDialog, "r")
        await ui.press_until("1 document could not be read", "y")
        await ui.wait_until("It is busy.")


@pytest.mark.parametrize("key", ["escape", "ctrl+c", "ctrl+w"])
async def test_a_key_stops_asking_and_keeps_what_is_done(tables: Tables, key: str) -> None:
    async with filling(tables) as ui:
        await ui.press_until("Stopped. The cells that are filled are kept.", key)
        await ui.wait_until("scripted · 2 of 6 cells: 2 found · 4 cells left to fill")
        await ui.press_until("Nothing to copy or stop.", "ctrl+c")
        assert isinstance(ui.app.screen, TableScreen)
        assert len(read_table(tables.folder).cells) == 2


async def test_quitting_while_a_table_is_filled_is_asked_and_a_second_press_quits(tables: Tables) -> None:
    async with filling(tables) as ui:
        await ui.press_until("Quit while questions are being answered?", "ctrl+q")
        await ui.press_until(TableScreen, "n")
        await ui.press_until("Table. Finished answers are kept.", "ctrl+q")
        await ui.press_until(lambda: ui.app._exit, "ctrl+q")
    assert len(read_table(tables.folder).cells) == 2


async def test_a_table_that_is_filled_while_a_document_is_shown_says_so(tables: Tables) -> None:
    gate = asyncio.Event()
    tables.model = ScriptedModel([lambda asked: ScriptedReply(text=answer(asked).text, gate=gate)] * 20)
    async with showing(tables) as ui:
        await ui.press_until(ConfirmDialog, "r")
        await ui.press_until("asking:", "y")
        await ui.press_until(MainScreen, "enter")
        gate.set()
        await ui.wait_until("Table: 6 of 6 cells")


async def test_while_a_model_starts_the_table_says_so_and_asks_what_it_costs_where_the_table_is_shown(
    tables: Tables,
) -> None:
    gate = asyncio.Event()
    tables.model = SlowModel(gate=gate)
    async with showing(tables) as ui:
        table_screen = cast("TableScreen", ui.app.screen)
        await ui.press_until("Starting the model…", "r")
        await ui.press_until(MainScreen, "enter")
        gate.set()
        await ui.wait_until("The table is ready to ask.")
        assert isinstance(ui.app.screen, MainScreen)
        await ui.press_until(ConfirmDialog, "ctrl+t")
        await ui.press_until(lambda: ui.app.screen is table_screen and "Starting the model…" not in ui.text, "n")


async def test_a_typed_question_becomes_a_column_and_is_asked(filled: Tables) -> None:
    filled.questions = [PERIOD]
    async with showing(filled) as ui:
        table = ui.app.screen.query_one(TableGrid).table
        await ui.press("+")
        await _answer_prompt(ui, "+Since when? [date]")  # the key, pressed once more in the field
        await ui.wait_until(ConfirmDialog)
        await ui.press_until("4 of 4 cells", "y")
        assert "this run read" in ui.words, "and not the runs before it"
        assert [column.type.value for column in table.columns] == ["text", "date"]
        kept = [column.question for column in read_table(filled.folder).columns]
        assert kept == [PERIOD, "Are pets allowed?", HEATING, "Since when?"], "those of earlier runs stay"


async def test_a_question_that_is_typed_again_leads_to_its_column(filled: Tables) -> None:
    async with showing(filled) as ui:
        grid = ui.app.screen.query_one(TableGrid)
        await ui.press_until(lambda: grid.current_column is not grid.table.columns[0], "l")
        await ui.press("+")
        await _answer_prompt(ui, PERIOD)
        await ui.wait_until(lambda: grid.current_column is grid.table.columns[0])
        assert len(grid.table.columns) == 3


async def test_a_long_log_holds_up_no_key(filled: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    readers: list[threading.Thread] = []

    def read(folder: Path) -> ResultTable:
        readers.append(threading.current_thread())
        return read_table(folder)

    monkeypatch.setattr("roamtui.table.store.read_table", read)
    async with showing(filled) as ui:
        table = ui.app.screen.query_one(TableGrid).table
        await ui.press("+")
        await _answer_prompt(ui, "Since when?")
        await ui.press_until(TableScreen, "n")
        await ui.press_until("Delete this column?", "d")
        await ui.press_until(lambda: len(table.columns) == 3, "y")
    assert len(readers) == 2, "for the run, and for the deletion"
    assert threading.main_thread() not in readers


async def test_a_column_that_is_added_meanwhile_is_asked_after_the_others(tables: Tables) -> None:
    gate = asyncio.Event()
    tables.model = ScriptedModel([lambda asked: ScriptedReply(text=answer(asked).text, gate=gate)] * 20)
    async with showing(tables) as ui:
        await ui.press_until(ConfirmDialog, "r")
        await ui.press_until("asking:", "y")
        await ui.press("+")
        await ui.wait_until(PromptDialog)
        for typed, complaint in (("[yes/no]", "The question is empty."), ("Since? [month]", "[month] is not a type.")):
            ui.field.value = typed
            await ui.press_until(complaint, "enter")
        await _answer_prompt(ui, "Since when? [date]")
        await ui.wait_until("This question is asked once the others are answered.")
        assert read_table(tables.folder).columns[-1].question == "Since when?", "the program may end meanwhile"
        gate.set()
        await ui.wait_until("2 cells")


async def test_a_column_is_deleted_once_confirmed_and_its_answers_return_with_its_question(filled: Tables) -> None:
    async with showing(filled) as ui:
        table = ui.app.screen.query_one(TableGrid).table
        await ui.press_until("Delete this column?", "d")
        await ui.press_until(lambda: PERIOD not in [column.question for column in table.columns], "y")
        assert sum(table.states.values()) == 4, "the cells of the other columns"
    kept = read_table(filled.folder)
    assert [column.question for column in kept.columns] == ["Are pets allowed?", HEATING]
    assert PERIOD in " ".join(column for _, column in kept.cells)


async def test_a_cell_whose_quote_the_document_has_lost_says_so_and_leads_to_what_stands_there_now(
    filled: Tables,
) -> None:
    lease = filled.leases / "anna.md"
    lease.write_text(lease.read_text("utf-8").replace("60 days", "45 days"), "utf-8")
    async with showing(filled, (100, 30)) as ui:
        await ui.wait_until("✗ text changed: 60 days")
        assert "r asks again" in ui.words
        assert "nearest, line 5: The notice period is 60 → 45 days" in ui.text
        assert CHANGED_LABEL in ui.text
        await ui.press_until(ConfirmDialog, "r")
        await ui.press_until(TableScreen, "n")
        await ui.wait_until("✗ text changed: 60 days")
        await ui.press_until(MainScreen, "enter")
        await ui.wait_until("The text has changed since the answer, so the most similar passage is shown.")
        await ui.wait_until("The notice period is 45 days")


async def test_a_table_is_drawn_again_only_if_its_width_or_its_colours_change(filled: Tables) -> None:
    async with showing(filled) as ui:
        await ui.rest()
        grid = ui.app.screen.query_one(TableGrid)
        (first, *_) = grid.ordered_rows
        await ui.pilot.resize_terminal(100, 30)
        await ui.wait_until(lambda: grid.size.height > 15)
        await ui.rest()
        assert grid.ordered_rows[0] is first
        await ui.pilot.resize_terminal(90, 30)
        await ui.wait_until(lambda: grid.row_count == 2 and grid.ordered_rows[0] is not first)
        (first, *_) = grid.ordered_rows
        ui.app.theme = "dawn"
        await ui.wait_until(lambda: grid.row_count == 2 and grid.ordered_rows[0] is not first)


@pytest.mark.parametrize("key", ["backspace", "escape"])
async def test_enter_shows_the_quote_of_a_cell_and_a_key_returns_to_the_table(filled: Tables, key: str) -> None:
    async with showing(filled, (160, 40)) as ui:
        table = ui.app.screen
        # a new document, the open one, and another document
        for keys in (("down", "enter"), ("enter",), ("up", "enter")):
            await ui.press_until(MainScreen, *keys)
            await ui.reach("Notice")
            ui.focus(Scope.READER)
            await ui.wait_until(lambda: ui.reader.has_focus)
            await ui.press_until(lambda: ui.app.screen is table, key)
        await ui.press_until("– Not found: I looked for it everywhere.", "down", "right", "right")
        await ui.press_until(lambda: isinstance(ui.app.screen, MainScreen) and ui.reader.has_focus, "enter")
        await ui.press_until(lambda: ui.app.screen is table, "escape")
        await ui.press_until(MainScreen, "escape")


async def test_the_table_is_exported_in_the_format_of_its_ending_with_links_from_where_it_is(
    filled: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "else" / "where").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "else" / "where")
    async with showing(filled) as ui:
        exports = ((".csv", "../leases/anna.md,60 days,found"), (".json", '"60 days"'), (".md", "](../leases/anna.md)"))
        for ending, words in exports:
            path = tmp_path / "else" / f"out{ending}"
            await ui.press("w")
            await _answer_prompt(ui, f"../{path.name}")
            await ui.wait_until(path.exists)
            await ui.wait_until("Saved")
            assert words in path.read_text("utf-8")


async def test_a_table_says_that_it_asks_only_after_the_person_agreed(tables: Tables) -> None:
    gate = asyncio.Event()

    class CheckedModel(ScriptedModel):
        @override
        async def check(self) -> None:
            await gate.wait()

    tables.model = CheckedModel([answer] * 20)
    async with showing(tables) as ui:
        await ui.press_until("Starting the model…", "r")
        await ui.pause()
        assert "asking:" not in ui.text
        gate.set()
        await ui.wait_until(ConfirmDialog)


async def test_a_key_of_documents_says_so_in_a_table_and_the_key_that_closes_documents_closes_it(
    tables: Tables,
) -> None:
    async with running(make_app(options=make_options(open_table=tables.open_table)), (100, 24)) as ui:
        await ui.press_until(TableScreen, "ctrl+l", "enter")
        await ui.press_until("This key works only in a document.", "f2")
        await ui.press_until(MainScreen, "ctrl+w")


async def test_a_name_that_the_disk_refuses_is_told_and_can_be_changed(filled: Tables) -> None:
    async with showing(filled) as ui:
        await ui.press_until(PromptDialog, "w")
        ui.field.value = f"/{'n' * 300}.md"
        await ui.press_until("File name too long.", "enter")
        assert "Could not read or write" in ui.words
        assert isinstance(ui.app.screen, PromptDialog)


async def test_a_table_without_questions_asks_for_one_and_letters_are_text(tables: Tables) -> None:
    tables.questions = []
    async with running(make_app(options=make_options(open_table=tables.open_table)), (100, 24)) as ui:
        await ui.press_until(PromptDialog, "ctrl+l", "enter")
        await ui.press(*"crw")
        assert ui.field.value == "crw"
        await ui.press_until(TableScreen, "escape")
        await ui.press_until(PromptDialog, "+")
        assert ui.field.value == "crw", "what was typed is found again"


async def test_a_person_chooses_what_a_new_table_is_about_and_returns_from_a_cell_to_it(
    tables: Tables, tmp_path: Path
) -> None:
    asked: list[tuple[str, ...]] = []

    def open_table(sources: tuple[str, ...]) -> TableSession:
        asked.append(sources)
        return tables.open_table(sources)

    files = [tmp_path / "one.md", tmp_path / "two.md"]
    for file in files:
        file.write_text(f"# {file.stem}\n\nText.\n", "utf-8")
    options = make_options(open_table=open_table, open_source=tables.open_source)
    app = RoamApp(options, tables.open_source(str(files[1]), None, None, lambda *_: None))
    async with running(app, (100, 24)) as ui:
        await ui.press_until("this document", "ctrl+l")
        assert "all 2" not in ui.text
        await ui.press_until(MainScreen, "escape")
        ui.app.post_message(DocumentRequested(str(files[0])))
        await ui.wait_until(lambda: len(app.documents) == 2)
        await ui.press_until("all 2 open documents", "ctrl+l")
        await ui.press_until(TableScreen, "down", "enter")
        assert asked == [tuple(map(str, files))], "in an order that does not depend on which was opened first"
        await ui.press_until(MainScreen, "enter")
        await ui.press_until("open table", "ctrl+l")
        await ui.press_until(TableScreen, "enter")
        assert len({*asked}) == 1, "the table that led here comes first"
        await ui.press_until(MainScreen, "ctrl+o", "enter")
        await ui.press_until(TableScreen, "ctrl+t", "ctrl+t")


async def test_opening_a_table_again_lists_its_documents_and_questions_again(filled: Tables) -> None:
    async with showing(filled) as ui:
        await ui.press_until(MainScreen, "enter")
        (filled.leases / "carl.md").write_text("# Lease of Carl\n")
        filled.questions.append("Since when?")
        await ui.press_until(TableScreen, "ctrl+l", "enter")
        await ui.wait_until("3 rows · 4 questions")
        assert "carl.md" in ui.text
        assert "Since when?" in ui.text


async def test_the_head_counts_no_cells_of_rows_and_columns_that_have_gone(filled: Tables) -> None:
    async with showing(filled) as ui:
        await ui.press_until("6 of 6 cells", "r")
        await ui.press_until("Delete this column?", "d")
        await ui.press_until(lambda: "2 rows · 2 questions" in ui.text and "cells" not in ui.rows[0], "y")
        await ui.press_until("4 of 4 cells", "r")
        await ui.press_until(MainScreen, "enter")
        (filled.leases / "bert.md").unlink()
        await ui.press_until(TableScreen, "ctrl+l", "enter")
        await ui.wait_until("1 row · 3 questions")
        assert "cells" not in ui.rows[0]


async def test_the_table_asks_the_model_of_the_document_also_once_it_is_another_one(filled: Tables) -> None:
    async with running(make_app(options=make_options(open_table=filled.open_table)), (100, 24)) as ui:
        for name in ("first", "second"):
            ui.main.agent.use_model(answering_model(name=name))
            await ui.press_until(TableScreen, "ctrl+l", "enter")
            await ui.press_until(f"Ask {name}?", "r")
            await ui.press_until(TableScreen, "n")
            assert f"3 questions · r asks {name}" in ui.text
            await ui.press_until(MainScreen, "ctrl+t")


async def test_a_table_of_an_earlier_day_that_a_key_opens_says_so_and_how_to_change_its_questions(
    filled: Tables,
) -> None:
    app = make_app(options=make_options(open_table=filled.open_table))
    async with running(app, (100, 24)) as ui:
        await ui.press_until("This is your earlier table · + adds a question, d deletes one", "ctrl+l", "enter")
