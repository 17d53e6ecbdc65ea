"""The passages of the offline model are cards: whole, the words of the question marked, with keys of their own."""

from pathlib import Path

from roamtui.models.discovery import ModelOffer
from roamtui.models.registry import NoModel
from roamtui.opening.loader import make_document_library, open_sources
from roamtui.search.searcher import Searcher
from roamtui.sources.read import SourceText
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.context import TuiOptions
from roamtui.tui.reader.lazy_lines import HighlightKind
from roamtui.tui.screens.pickers import PickerDialog
from tests.case_files import read_case
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.services import make_options
from tests.tui.driving import RunningApp, make_app, running
from tests.tui.reader.sections import list_lines as list_shown
from tests.tui.reader.sections import list_marked

FERRY = read_case("ferry.md")
LARGE = (120, 35)
PRICE = "What is the price of a car?"
BICYCLE = "How much does a bicycle cost?"


def make_offline_app(options: TuiOptions | None = None, text: str = FERRY) -> RoamApp:
    """Return an app over a text, else the handbook of a ferry, that answers without a model."""
    library = make_document_library(SourceText(text=text, source="ferry.md", name="ferry"))
    return make_app(library=library, model=NoModel(), searcher=Searcher, options=options or make_options())


def list_lines(ui: RunningApp) -> list[str]:
    """Return the lines of the last exchange, without the margin."""
    return [line.rstrip().removeprefix(" ") for line in str(ui.last.render()).splitlines()]


def read_words(ui: RunningApp) -> str:
    """Return the words of the last exchange, in one line."""
    return " ".join(" ".join(list_lines(ui)).replace("│", "").split())


async def show_cards(ui: RunningApp, question: str = BICYCLE) -> None:
    """Ask a question, and go to the conversation."""
    await ui.ask(question)
    ui.focus(Scope.CHAT)
    await ui.wait_until(lambda: ui.last.outcome.passages)


async def test_a_card_has_path_place_and_the_whole_passage_with_its_table() -> None:
    async with running(make_offline_app(), LARGE) as ui:
        await show_cards(ui, PRICE)
        lines = list_lines(ui)
        start = lines.index("1 Tickets › Cars · lines 7-12 · has: price, car")
        assert lines[start + 1 : start + 7] == [
            "│ Prices of cars depend on the season:",
            "│",
            "│ Season │ Price of a car",
            "│ ───────┼───────────────",
            "│ Summer │ 30 crowns",
            "│ Winter │ 20 crowns",
        ]
        assert " · no model has read " in ui.text
        assert not any(words in ui.text for words in ("“", "found in the text", "Sources", "does not reason"))
        await ui.press("1")
        await ui.press_until("The whole passage is shown", "space")
        assert "▸ searched once" in ui.text, "the steps stay folded"
        await ui.press_until(lambda: bool(ui.app.clipboard), "y")
    assert "✓" not in ui.app.clipboard
    assert ui.app.clipboard.endswith(" · passage)\n")


async def test_a_card_names_its_file_once(tmp_path: Path) -> None:
    (tmp_path / "warranty.md").write_text("# Warranty\n\n## Term\n\nIt lasts two years.\n", "utf-8")
    (tmp_path / "fees.md").write_text("# Prices\n\n## Term\n\nIt costs two crowns.\n", "utf-8")
    library, loader = open_sources([str(tmp_path)])
    app = make_app(library=library, model=NoModel(), searcher=Searcher, loader=loader)
    async with running(app, LARGE) as ui:
        await show_cards(ui, "Which term lasts two years?")
        titles = [line.partition(" · ")[0] for line in list_lines(ui) if " › " in line]
        assert titles == ["1 warranty.md › Term", "2 fees.md › Prices › Term"]


_DECKS = [f"On deck {number} one waits for the bell and looks at the sea." for number in range(60)]
LONG = f"# Ferry\n\n## Tickets\n\n{' '.join([*_DECKS[:30], 'A bicycle costs 2 crowns.', *_DECKS[30:]])}\n"


async def test_a_card_shows_below_a_row_the_row_of_another_table_that_says_what_it_is_about() -> None:
    classes = "# Classes\n\n| Class | Covers |\n|---|---|\n| B | barges |\n| C | punts |\n\n"
    fees = "# Deposits\n\nOn return.\n\n| Class | Deposit |\n|---|---|\n| B | £25 |\n| C | £100 |\n"
    async with running(make_offline_app(text=classes + fees), LARGE) as ui:
        await show_cards(ui, "deposit for a punt")
        lines = list_lines(ui)
        start = lines.index("│ Class C | Deposit: £100")
        assert lines[start - 1].endswith("has: deposit")
        assert lines[start + 1 : start + 3] == ["│ Class C | Covers punts", "│ ▸ whole passage"]


async def test_a_card_divides_a_row_only_between_its_columns() -> None:
    heads = " | ".join(f"Year ended December 31, {year}" for year in (2024, 2023, 2022))
    rows = "".join(f"| {name} | 7,001 | 6,001 | 5,001 |\n" for name in ("Sales", *"ABCDEFGH"))
    text = f"# Results\n\n| In thousands | {heads} |\n|---|---|---|---|\n{rows}"
    async with running(make_offline_app(text=text), (60, 20)) as ui:
        await show_cards(ui, "sales in 2023")
        lines = list_lines(ui)
        start = lines.index("│ In thousands Sales")
        assert lines[start + 1 : start + 4] == [
            "│ Year ended December 31, 2023: 6,001",
            "│ Year ended December 31, 2024: 7,001",
            "│ Year ended December 31, 2022: 5,001",
        ]


async def test_a_card_shows_its_likeliest_statement_with_the_words_marked_and_unfolds_by_key_or_click() -> None:
    async with running(make_offline_app(text=LONG), LARGE) as ui:
        await show_cards(ui, "What is the fee for tiny bicycles in Norway?")
        assert "“tiny” and “Norway” do not occur in the document." in read_words(ui)
        folded = list_lines(ui)
        start = folded.index("1 Tickets · line 5 · has: bicycles")
        assert "A bicycle costs 2 crowns." in read_words(ui)
        assert "On deck 40" not in read_words(ui)
        content = ui.last.render()
        marked = {content.plain[start:end] for start, end, style in content.spans if style == "bold $secondary"}
        assert {"bicycle", "costs"} <= marked
        assert not {"is", "the", "crowns"} & marked
        await ui.press("space")
        assert "On deck 40" in read_words(ui)
        await ui.press_until(lambda: list_lines(ui) == folded, "space")
        await ui.click(ui.last, offset=(4, folded.index("│ ▸ whole passage")))
        assert "On deck 40" in read_words(ui)
        await ui.click(ui.last, offset=(6, start + 1))
        await ui.reach("Tickets")


async def test_a_passage_longer_than_the_view_is_read_from_its_likeliest_statement_which_alone_is_marked() -> None:
    async with running(make_offline_app(text=LONG), (80, 24)) as ui:
        await show_cards(ui)
        await ui.reach("Tickets", "1", "enter")
        await ui.wait_until(lambda: "2 crowns." in " ".join(map(str.strip, list_shown(ui.reader))))
        marked = " ".join(" ".join(list_marked(ui.reader, HighlightKind.QUOTE)).split())
        assert "A bicycle costs 2 crowns." in marked
        assert len(marked) < len(LONG) / 5


async def test_ctrl_r_chooses_a_model_and_asks_it_the_same_question_with_these_sections_open() -> None:
    model = ScriptedModel(["Two crowns."] * 2, name="local")
    offers = (ModelOffer(name="local", note="on this machine"),)
    options = make_options(list_models=lambda: offers, make_model=lambda *_, **__: model)
    async with running(make_offline_app(options), LARGE) as ui:
        await show_cards(ui)
        shown = {citation.section_id for citation in ui.exchanges[0].citations}
        await ui.press_until(PickerDialog, "ctrl+r")
        await ui.press_until("Make this model the default?", "down", "enter")
        await ui.press_until("Asks again with", "n")
        await ui.press_until(lambda: bool(model.requests) and not ui.main.is_asking, "enter")
        (exchange,) = ui.exchanges
        assert (exchange.question, exchange.model, exchange.answer) == (BICYCLE, "local", "Two crowns.")
        assert {section.section_id for section in exchange.open_before} == shown
        assert "A bicycle costs 2 crowns." in "".join(message.text for message in model.requests[0].messages)


async def test_the_passages_return_after_an_answer_with_more_sources() -> None:
    ids = [*make_document_library(SourceText(text=FERRY, source="ferry.md", name="ferry")).walk()]
    model = ScriptedModel([" ".join(f'"A bicycle costs 2 crowns." [{one}]' for one in ids * 3)], name="local")
    offers = (ModelOffer(name="local", note="on this machine"),)
    options = make_options(list_models=lambda: offers, make_model=lambda *_, **__: model)
    async with running(make_offline_app(options), LARGE) as ui:
        await show_cards(ui)
        passages = list_lines(ui)
        await ui.press_until(PickerDialog, "ctrl+r")
        await ui.press_until("Make this model the default?", "down", "enter")
        await ui.press_until("Asks again with", "n")
        await ui.press_until("answer 2 of 2", "enter")
        await ui.wait_until(lambda: len(ui.exchanges[0].citations) > len(passages))
        ui.focus(Scope.CHAT)
        await ui.press_until("answer 1 of 2", "[")
        assert list_lines(ui)[-5:] == passages[-5:]


async def test_words_of_the_first_passage_are_in_view_in_a_small_terminal() -> None:
    async with running(make_offline_app(), (60, 20)) as ui:
        await ui.ask("How much does a bicycle to Paris cost for a lost and lonely traveller with a hammer?")
        await ui.wait_until(lambda: ui.last.outcome.passages)
        assert ui.chat.max_scroll_y > 0
        first = next(line for line in list_lines(ui) if line.startswith("│ "))
        await ui.wait_until(first)
