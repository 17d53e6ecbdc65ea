"""The passages of the offline model are cards: whole, the words of the question marked, with keys of their own."""

import pytest
from textual.pilot import Pilot

from roamtui.conversation.events import Origin
from roamtui.document.loader import build_library
from roamtui.models.discovery import ModelOffer
from roamtui.models.registry import NoModel
from roamtui.search.keyword import KeywordSearcher
from roamtui.sources.read import RawText
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.chat.exchange_view import ExchangeView
from roamtui.tui.context import TuiOptions
from roamtui.tui.screens.pickers import PickerDialog
from tests.case_files import read_case
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.fakes.services import make_options
from tests.tui.driving import ask, find_id, make_app, press_until, running, screen_text, wait_until
from tests.tui.reader.sections import list_lines as list_shown

FERRY = read_case("ferry.md")
LARGE = (120, 35)
PRICE = "What is the price of a car?"
BICYCLE = "How much does a bicycle cost?"


def make_offline_app(options: TuiOptions | None = None, text: str = FERRY) -> RoamApp:
    """Return an app over a text, else the handbook of a ferry, that answers without a model."""
    library = build_library(RawText(text=text, source="ferry.md", name="ferry"))
    return make_app(library=library, model=NoModel(), searcher=KeywordSearcher, options=options or make_options())


def get_cards(app: RoamApp) -> ExchangeView:
    """Return the last exchange, which has the cards."""
    return app.main_screen.query(ExchangeView).last()


def list_lines(app: RoamApp) -> list[str]:
    """Return the lines of the last exchange, without the margin."""
    return [line.rstrip().removeprefix(" ") for line in str(get_cards(app).render()).splitlines()]


def list_marked(app: RoamApp, wanted: str = "bold $secondary") -> list[str]:
    content = get_cards(app).render()
    return [content.plain[start:end] for start, end, style in content.spans if style == wanted]


async def show_cards(pilot: Pilot[None], app: RoamApp, question: str = BICYCLE) -> None:
    """Ask a question, and go to the conversation."""
    await ask(pilot, question)
    app.main_screen.panes.focus_scope(Scope.CHAT)
    await wait_until(pilot, lambda: get_cards(app).passages)


async def test_a_card_has_path_place_and_the_whole_passage_with_its_table() -> None:
    async with running(make_offline_app(), LARGE) as (app, pilot):
        await show_cards(pilot, app, PRICE)
        lines = list_lines(app)
        start = lines.index("1 Tickets › Cars · lines 7-12")
        assert lines[start + 1 : start + 7] == [
            "│ Prices of cars depend on the season:",
            "│",
            "│ Season │ Price of a car",
            "│ ───────┼───────────────",
            "│ Summer │ 30 crowns",
            "│ Winter │ 20 crowns",
        ]
        shown = screen_text(app)
        assert "1 passage · no model has read it · " in shown
        assert not any(words in shown for words in ("“", "found in the text", "Sources", "does not reason"))
        await press_until(pilot, lambda: bool(app.clipboard), "y")
    assert not {*"“”✓"} & {*app.clipboard}
    assert "(passage)" in app.clipboard


async def test_a_card_shows_its_likeliest_statement_with_the_words_marked_and_unfolds_by_key_or_click() -> None:
    async with running(make_offline_app(), LARGE) as (app, pilot):
        await show_cards(pilot, app, "What is the fee for tiny bicycles?")
        assert "The document does not contain “tiny”." in screen_text(app)
        folded = list_lines(app)
        start = folded.index("1 Tickets › Bicycles · lines 16-22")
        assert folded[start + 1 :][:2] == ["│ A bicycle costs 2 crowns.", "│ ▸ whole passage"]
        await pilot.press("space")
        (whole,) = [line for line in list_lines(app) if "A bicycle costs 2 crowns" in line]
        assert whole == "│ A bicycle costs 2 crowns. It stands on the lower deck."
        assert "A bicycle costs 2 crowns" in list_marked(app, "bold")
        assert {"bicycle", "costs"} <= set(list_marked(app))
        assert not {"is", "the", "crowns"} & set(list_marked(app))
        await pilot.click(get_cards(app), offset=(4, list_lines(app).index("│ ▾ fold")))
        assert list_lines(app) == folded


async def test_a_passage_that_stands_in_the_answer_above_is_shown_again_only_if_unfolded() -> None:
    async with running(make_offline_app(), LARGE) as (app, pilot):
        await show_cards(pilot, app)
        first = get_cards(app)
        await ask(pilot, "And a car?")
        await wait_until(pilot, lambda: get_cards(app) is not first and get_cards(app).passages)
        lines = list_lines(app)
        start = lines.index("1 Tickets › Bicycles · lines 16-22")
        assert lines[start + 1 : start + 4] == ["│ ▸ stands above", "", "2 Tickets › Cars · lines 7-12"]
        app.main_screen.panes.focus_scope(Scope.CHAT)
        await press_until(
            pilot, lambda: "│ A bicycle costs 2 crowns. It stands on the lower deck." in list_lines(app), "space"
        )


async def test_a_passage_of_a_log_is_copied_as_it_stands_there() -> None:
    log = "10:00 ERROR the pump lost pressure"
    library = build_library(RawText(text=log, source="a.log", name="a.log", is_markdown=False))
    async with running(make_app(library=library, model=NoModel(), searcher=KeywordSearcher), LARGE) as (app, pilot):
        await show_cards(pilot, app, "When did the pump lose pressure?")
        await press_until(pilot, lambda: bool(app.clipboard), "y")
    assert f"\n\n```\n{log}\n```\n\n[" in app.clipboard
    assert ': "10:00 ERROR' in app.clipboard


async def test_a_passage_longer_than_the_view_is_read_from_its_likeliest_statement_which_alone_is_marked() -> None:
    statement = "A bicycle costs 2 crowns."
    others = [f"On deck {number} one waits for the bell and looks at the sea." for number in range(60)]
    text = f"# Ferry\n\n## Tickets\n\n{' '.join([*others[:30], statement, *others[30:]])}\n"
    async with running(make_offline_app(text=text), (80, 24)) as (app, pilot):
        await show_cards(pilot, app)
        reader = app.main_screen.reader_pane.ensure_reader()
        await press_until(pilot, lambda: reader.section_id == find_id(app, "Tickets"), "1", "enter")
        await wait_until(pilot, lambda: "2 crowns." in " ".join(map(str.strip, list_shown(reader))))
        located = filter(None, map(reader.lines.get_line, range(len(reader.lines))))
        marked = [(line.line.text, mark) for line in located for mark in reader.lines.iter_highlights(line)]
        words = " ".join(text[mark.start : mark.end] for text, mark in marked).split()
        assert " ".join(words) == "A bicycle costs 2 crowns."


async def test_a_opens_the_section_for_the_conversation() -> None:
    options = make_options(keys={"move.down": ("n",)})
    async with running(make_offline_app(options=options), LARGE) as (app, pilot):
        screen, section_id = app.main_screen, find_id(app, "Bicycles")
        await show_cards(pilot, app)
        await pilot.press("a")
        await wait_until(pilot, "Select a passage or a citation first (n, k)")
        await pilot.press("1", "x")
        await wait_until(pilot, lambda: section_id not in screen.conversation.state.open_sections)
        await pilot.press("a")
        await wait_until(pilot, lambda: section_id in screen.conversation.state.open_sections)
        opened = screen.conversation.state.open_sections.get(section_id)
        assert opened is not None
        assert opened.opened_by is Origin.PERSON


async def test_i_chooses_a_model_and_asks_it_the_same_question_with_these_sections_open() -> None:
    model = ScriptedModel([ScriptedReply(text="Two crowns.")] * 2, name="local")
    offers = (ModelOffer(name="local", note="on this machine"),)
    options = make_options(list_models=lambda: offers, make_model=lambda *_: model)
    async with running(make_offline_app(options), LARGE) as (app, pilot):
        await show_cards(pilot, app)
        screen = app.main_screen
        shown = {citation.section_id for citation in screen.conversation.state.exchanges[0].citations}
        await pilot.press("i")
        await wait_until(pilot, lambda: isinstance(app.screen, PickerDialog))
        await press_until(pilot, "Make this model the default?", "down", "enter")
        await press_until(pilot, lambda: bool(model.requests) and not screen.is_asking, "n")
        (exchange,) = screen.conversation.state.exchanges
        assert (exchange.question, exchange.model, exchange.answer) == (BICYCLE, "local", "Two crowns.")
        assert {section.section_id for section in exchange.open_before} == shown
        assert "A bicycle costs 2 crowns." in "".join(message.text for message in model.requests[0].messages)


async def test_i_on_a_selected_passage_asks_about_its_section() -> None:
    async with running(make_offline_app(), LARGE) as (app, pilot):
        await show_cards(pilot, app)
        await pilot.press("1", "i")
        await wait_until(pilot, lambda: app.focused is app.main_screen.question_box)
        await wait_until(pilot, "Bicycles · esc for the whole document")


async def test_a_key_of_the_whole_app_works_in_the_question_box_too() -> None:
    async with running(make_offline_app(), LARGE) as (_, pilot):
        await pilot.press("f6")
        await wait_until(pilot, "Notes cannot be saved here")


@pytest.mark.parametrize(
    ("question", "card"),
    [
        ("Which zebra plays the xylophone on a boat at midnight?", "1 Weather"),
        ("Which captain of the club flies the red flag at midnight?", "│ The red flag means that no boat leaves."),
    ],
    ids=["titles", "passages"],
)
async def test_what_is_not_found_is_said_plainly_with_the_nearest_sections_to_enter(question: str, card: str) -> None:
    async with running(make_offline_app(), LARGE) as (app, pilot):
        await show_cards(pilot, app, question)
        lines = list_lines(app)
        assert "Not found: no passage has enough of the question's words. Looked for “" in " ".join(lines)
        assert any(line.startswith("Nearest sections") for line in lines)
        assert card in lines
        assert "not found in the document" not in screen_text(app)
        await pilot.press("1", "enter")
        await wait_until(pilot, lambda: app.main_screen.reader_pane.section_id == find_id(app, "Weather"))


async def test_a_click_on_a_card_reads_its_section() -> None:
    async with running(make_offline_app(), LARGE) as (app, pilot):
        await ask(pilot, BICYCLE)
        line = next(number for number, text in enumerate(list_lines(app)) if text.startswith("│ A bicycle"))
        await pilot.click(get_cards(app), offset=(6, line))
        await wait_until(pilot, lambda: app.main_screen.reader_pane.section_id == find_id(app, "Bicycles"))
        before = get_cards(app)
        app.main_screen.chat_log.action_retry()
        await wait_until(pilot, lambda: get_cards(app) is not before)  # passages are enough: it needs no model
