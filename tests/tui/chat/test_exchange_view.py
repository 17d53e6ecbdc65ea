"""An answer: its words, marks and links, the sources below it, and what of a conversation is in view."""

import asyncio
import re
from functools import partial

import pytest
from msgspec.structs import replace
from textual.content import Content
from textual.pilot import Pilot
from textual.scrollbar import ScrollDown

from roamtui.conversation.events import Citation, QuoteState, StopReason
from roamtui.conversation.notices import Severity
from roamtui.conversation.state import Exchange
from roamtui.document.loader import build_library
from roamtui.sources.read import RawText
from roamtui.text import Span
from roamtui.tui.actions import Scope, build_keymap
from roamtui.tui.app import RoamApp
from roamtui.tui.chat.chat_log import EXCHANGES_MAX
from roamtui.tui.chat.exchange_view import ExchangeView
from roamtui.tui.messages import SectionTarget
from tests.fakes.scripted_model import ScriptedReply
from tests.fakes.services import app_over
from tests.tui.driving import (
    app_of,
    ask,
    expand,
    find_id,
    make_app,
    make_context,
    model_of,
    press_until,
    running,
    screen_text,
    type_at_once,
    wait_until,
)


async def answer(pilot: Pilot[None], text: str) -> None:
    model_of(app_of(pilot)).add_replies(ScriptedReply(text=text), ScriptedReply(text=text))
    await ask(pilot, "Where?")


async def test_a_click_on_a_link_follows_it_and_on_a_citation_jumps() -> None:
    async with running(make_app(), (120, 35)) as (app, pilot):
        deck = find_id(app, "Deck oven")
        await answer(pilot, f"Of **[steam *let in*](#steam)** and loaves [{deck}].")
        rows = screen_text(app).split("\n")
        line = next(y for y, row in enumerate(rows) if "Of steam let in" in row)
        await pilot.click(offset=(rows[line].index("let in") + 2, line))
        await wait_until(pilot, lambda: app.main_screen.reader_pane.section_id == find_id(app, "Steam"))
        app.main_screen.panes.focus_scope(Scope.CHAT)
        await wait_until(pilot, lambda: "[1]" in screen_text(app).split("\n")[line])
        rows = screen_text(app).split("\n")
        await pilot.click(offset=(rows[line].index("[1]") + 1, line))
        await wait_until(pilot, lambda: app.main_screen.reader_pane.section_id == deck)


async def test_a_click_on_the_actions_folds_them_and_a_click_below_does_not() -> None:
    async with running(make_app(), (120, 35)) as (app, pilot):
        model_of(app).add_replies(expand(find_id(app, "Deck oven")))
        await answer(pilot, "Hot.")
        rows = screen_text(app).split("\n")
        line = next(y for y, row in enumerate(rows) if "▸ opened 1 section" in row)
        for y, sign in ((line + 1, "▸"), (line, "▾"), (line + 1, "▸")):
            await pilot.click(offset=(44, y))
            await wait_until(pilot, f"{sign} opened 1 section")


async def test_words_that_the_mouse_selects_are_copied_without_margins() -> None:
    async with running(make_app(), (120, 35)) as (app, pilot):
        await answer(pilot, "- Deck.\n- Stone.")
        view = app.main_screen.query(ExchangeView).last()
        await pilot.mouse_down(view, offset=(3, 0))
        await pilot.hover(view, offset=(20, 5))
        await pilot.mouse_up(view, offset=(20, 5))
        await pilot.press("ctrl+c")
        lines = app.clipboard.splitlines()
        assert (lines[0], lines[-2:]) == ("Where?", ["• Deck.", "• Stone."])


async def test_an_answer_that_is_not_drawn_yet_names_no_question_above() -> None:
    async with running(make_app(), (80, 24)) as (app, pilot):
        await answer(pilot, "\n\n".join(["A line."] * 40))
        log = app.main_screen.chat_log
        view = app.main_screen.query(ExchangeView).last()
        view.part_starts = [0]
        log.scroll_to(y=20, animate=False, immediate=True)
        log._keep_place()
        assert not any(map(str.strip, map(str, log.question_line.lines)))


async def test_a_click_below_the_thumb_of_the_scrollbar_leads_to_the_end() -> None:
    async with running(make_app(), (80, 24)) as (app, pilot):
        await answer(pilot, "\n\n".join(["A line."] * 40))
        log = app.main_screen.chat_log
        log.scroll_to(y=log.max_scroll_y - 2, animate=False, immediate=True)
        log.vertical_scrollbar.post_message(ScrollDown())  # what the scrollbar sends
        await wait_until(pilot, lambda: log.scroll_y == log.max_scroll_y)
        await pilot.pause(0.1)
        assert log.scroll_y == log.max_scroll_y


def styles_of(content: Content, words: str) -> set[str]:
    """Return the styles of words as one set."""
    start = content.plain.index(words)
    spans = [span for span in content.spans if span.start <= start and span.end >= start + len(words)]
    return {name for span in spans for name in str(span.style).split()}


LIBRARY = build_library(RawText(text="# Fees\n\nOne two.\n\n## Late\n\nThree four.\n", source="a.md", name="a"))
FEES, LATE = LIBRARY.walk()


def make_view(text: str, *citations: Citation) -> ExchangeView:
    exchange = Exchange(number=1, question="?", answer=text, stopped=StopReason.ANSWERED, citations=citations)
    return ExchangeView(exchange, LIBRARY, build_keymap())


def test_a_quote_has_the_style_of_its_verdict_and_its_mark_a_sign() -> None:
    text = 'So "one" [a8a96034]. But "two" [a8a96034]. Or "six" [a8a96034].'
    citations = []
    for quote, state in (("one", QuoteState.FOUND), ("two", QuoteState.ELSEWHERE), ("six", QuoteState.NOT_FOUND)):
        start = text.index(f'"{quote}"')
        end = start + len(quote) + 2
        citations.append(
            Citation(section_id="a8a96034", quote=quote, state=state, start=start, end=end, marks=(end + 1,))
        )
    content = make_view(text, *citations).draw(80)[2]
    assert content.plain == ' So "one" [1 ✓]. But "two" [2 !]. Or "six" [3 ✗].'
    assert styles_of(content, '"one"') == {"underline", "$text-success"}
    assert styles_of(content, '"two"') == {"underline", "$text-warning"}
    assert styles_of(content, '"six"') == {"strike", "$text-error"}
    assert styles_of(content, "So") == set()


def cite(section_id: str, quote: str | None, state: QuoteState = QuoteState.FOUND, line: int = 3) -> Citation:
    return Citation(section_id=section_id, quote=quote, state=state, doc="a.md", start_line=line, end_line=line)


def test_each_citation_has_one_line_and_no_quote_that_the_answer_has() -> None:
    answer = '"one [link](#x)", "two", "three" and "four"'
    view = make_view(
        answer,
        cite(FEES, "one [link](#x)"),
        cite(LATE, None, QuoteState.NO_QUOTE, line=8),
        cite(FEES, "two", QuoteState.FOUND),
        cite(FEES, "five", line=5),
        cite(LATE, "four", QuoteState.NOT_FOUND),
    )
    assert [line.plain for line in view.draw(100)[-6:]] == [
        " Sources  4 quotes: 3 where cited, 1 not in the text that the model read",
        "  1 ✓ a.md › Fees · line 3",
        "  2 a.md › Late · line 8",
        "  3 ✓ a.md › Fees · line 3",
        "  4 ✓ a.md › Fees · line 5 “five”",
        "  5 ✗ a.md › Late · not in the text that the model read",
    ]
    assert "          the model read" in [line.plain for line in view.draw(60)], "it goes on below its first word"


def test_a_quote_of_another_section_says_where_its_words_are_and_leads_there() -> None:
    span = Span(doc="", start=27, end=32)
    citation = replace(cite(FEES, "Three", QuoteState.ELSEWHERE, line=7), span=span, doc="")
    view = make_view('"Three"', citation)
    assert view.draw(80)[-1].plain == "  1 ! Fees · these words are in Late, line 7"
    assert view.targets[-1] == SectionTarget(LATE, citation)


USUAL, WIDE = (120, 35), (160, 45)


async def answer_about_ovens(pilot: Pilot[None], app: RoamApp) -> None:
    """Have a question answered with three citations: two in the text, one not."""
    stone, deck = find_id(app, "Stone oven"), find_id(app, "Deck oven")
    text = (
        f'The deck oven: "The deck oven takes ninety loaves" [{deck}].\n\n'
        f'The stone oven: "It must rest for one hour" [{stone}].\n\n'
        f'Both: "The stone oven takes fifty loaves" [{stone}].'
    )
    model_of(app).add_replies(expand(stone, deck), ScriptedReply(text=text))
    await ask(pilot, "Which oven is larger?")


def get_selected(app: RoamApp) -> int | None:
    view = app.main_screen.query(ExchangeView).last()
    return None if view.selected is None else view.cited.index(view.selected)


def is_read(app: RoamApp, title: str) -> bool:
    return app.main_screen.reader_pane.section_id == find_id(app, title)


async def test_digits_select_quotes_in_every_pane_and_show_them_where_the_conversation_does_not() -> None:
    async with running(make_app(), USUAL) as (app, pilot):
        await answer_about_ovens(pilot, app)
        screen = app.main_screen
        screen.panes.focus_scope(Scope.CHAT)
        await pilot.press("2")
        assert get_selected(app) == 1
        await press_until(pilot, "There is no quote 9", "9")
        assert (get_selected(app), app.focused) == (1, screen.chat_log)
        for scope, key, title in ((Scope.TREE, "1", "Deck oven"), (Scope.READER, "2", "Stone oven")):
            screen.panes.focus_scope(scope)
            await press_until(pilot, partial(is_read, app, title), key)
            assert screen.panes.scope is scope
            assert get_selected(app) == int(key) - 1


async def test_two_digits_at_once_are_one_number_if_there_is_such_a_quote(monkeypatch: pytest.MonkeyPatch) -> None:
    titles = [f"Part {number}" for number in range(1, 13)]
    text = "# Book\n" + "".join(f"\n## {title}\n\nWords of {title}.\n" for title in titles)
    async with running(make_app(text=text), USUAL) as (app, pilot):
        await answer(pilot, " ".join(f"One [{find_id(app, title)}]." for title in titles))
        screen = app.main_screen
        screen.panes.focus_scope(Scope.CHAT)
        await pilot.pause()
        type_at_once(pilot, "1", "0")
        await wait_until(pilot, lambda: get_selected(app) == 9)
        type_at_once(pilot, "5", "3")
        await wait_until(pilot, lambda: get_selected(app) == 2)
        monkeypatch.setattr("roamtui.tui.screens.main._DIGIT_SECONDS", 0.0)
        type_at_once(pilot, "1", "2")
        await wait_until(pilot, lambda: get_selected(app) == 1)


async def test_where_the_reader_has_room_it_shows_the_first_citation_and_each_selected_one() -> None:
    async with running(make_app(), WIDE) as (app, pilot):
        screen = app.main_screen
        await answer_about_ovens(pilot, app)
        await wait_until(pilot, lambda: screen.reader_pane.section_id == find_id(app, "Deck oven"))
        assert app.focused is screen.question_box
        screen.chat_log.action_move_sideways(1)
        screen.chat_log.action_move_sideways(1)
        await wait_until(pilot, lambda: screen.reader_pane.section_id == find_id(app, "Stone oven"))


LONG = "The answer begins here.\n\n" + "\n\n".join(f"Paragraph {number}." for number in range(40))
SIZE = (80, 24)


async def test_a_long_answer_stays_at_its_beginning() -> None:
    async with running(make_app([ScriptedReply(text=LONG)]), SIZE) as (app, pilot):
        await ask(pilot, f"What{' is the matter' * 5} here?")
        text = screen_text(app)
        assert "❯ What is the matter" in text
        assert "The answer begins here." in text
        assert "Paragraph 39." not in text
        assert app.main_screen.chat_log.scroll_y < app.main_screen.chat_log.max_scroll_y
        assert "❯ What" not in find_top_line(app)
        app.main_screen.panes.focus_scope(Scope.CHAT)
        await press_until(pilot, "Paragraph 9.", "pagedown")
        assert re.search(r"❯ What is the matter.*…$", find_top_line(app))
        await press_until(pilot, lambda: "❯ What" not in find_top_line(app), "g")


def find_top_line(app: RoamApp) -> str:
    """Return the line above the conversation."""
    return screen_text(app).split("\n")[2].rstrip()


@pytest.mark.parametrize("keys", [("G", "g"), ("pagedown",)], ids=" ".join)
async def test_what_a_person_scrolled_to_stays_there_while_an_answer_grows_and_a_notice_comes(
    keys: tuple[str, ...],
) -> None:
    gate = asyncio.Event()
    words = ScriptedReply(text=f"{LONG}\n\nMore of it.", chunk_size=len(LONG), gate=gate, gate_after=1)
    async with running(make_app(), SIZE) as (app, pilot):
        steps = [expand(find_id(app, title)) for title in ("Stone oven", "Deck oven", "Steam", "Starter")]
        model_of(app).add_replies(*steps, words)
        log = app.main_screen.chat_log
        app.main_screen.question_box.fill("What?")
        await press_until(pilot, "The answer begins here.", "enter")
        app.main_screen.panes.focus_scope(Scope.CHAT)
        await pilot.press(*keys)
        await pilot.pause()
        top = list_top_lines(app)
        gate.set()
        await wait_until(pilot, lambda: not app.main_screen.is_asking)
        await wait_until(pilot, lambda: "Answer complete ↓ G" in screen_text(app))
        assert list_top_lines(app) == top
        for severity, name in ((Severity.INFO, "notice"), (Severity.WARNING, "warning")):
            log.add_notice("Something else happened.", severity)
            await wait_until(pilot, f"New {name} ↓ G")
            assert list_top_lines(app) == top
        await press_until(pilot, "Something else happened.", "G")


def list_top_lines(app: RoamApp) -> list[str]:
    """Return the first two lines of the conversation that are in view, without the scroll bar."""
    region = app.main_screen.chat_log.region
    rows = screen_text(app).split("\n")[region.y : region.y + 2]
    return [row[region.x : region.right - 1].rstrip() for row in rows]


@pytest.mark.parametrize("width", [130, 70])
@pytest.mark.parametrize("place", [Scope.CHAT, Scope.READER])
@pytest.mark.parametrize("keys", [("pagedown", "pagedown"), ("G", "pageup"), ("G",), ()], ids=" ".join)
async def test_the_conversation_stays_where_it_was_when_the_width_changes(
    keys: tuple[str, ...], place: Scope, width: int
) -> None:
    text = "\n\n".join(f"Paragraph {number}. {'word ' * 40}" for number in range(40))
    async with running(make_app([ScriptedReply(text=text)]), (100, 30)) as (app, pilot):
        log = app.main_screen.chat_log
        await ask(pilot, "What?")
        app.main_screen.panes.focus_scope(Scope.CHAT)
        await pilot.press(*keys)
        await pilot.pause()
        width_before = log.size.width
        was_at_end = log.scroll_y == log.max_scroll_y
        first = re.findall(r"What\?|Paragraph \d+", screen_text(app))[0]
        app.main_screen.panes.focus_scope(place)
        await pilot.pause()
        await pilot.resize_terminal(width, 30)
        app.main_screen.panes.focus_scope(Scope.CHAT)
        await wait_until(pilot, lambda: log.size.width != width_before)
        await wait_until(pilot, lambda: log.scroll_y == log.max_scroll_y if was_at_end else first in screen_text(app))


async def test_j_and_k_go_on_from_what_is_in_view() -> None:
    async with running(make_app(), SIZE) as (app, pilot):
        log = app.main_screen.chat_log
        deck = find_id(app, "Deck oven")
        text = "\n\n".join(f"Paragraph {number} is about the ovens [{deck}]." for number in range(40))
        model_of(app).add_replies(expand(deck), ScriptedReply(text=text))
        await ask(pilot, "What?")
        app.main_screen.panes.focus_scope(Scope.CHAT)
        await pilot.press("j", "j")
        for way, key in (("pagedown", "j"), ("pageup", "k")):
            await pilot.press(way, way)
            await pilot.pause()
            top = log.scroll_y
            await pilot.press(key)
            await pilot.pause()
            assert log.scroll_y == top, "it is in view already"


def make_long_app(count: int, *replies: ScriptedReply) -> RoamApp:
    context = make_context(replies)
    exchanges = tuple(
        Exchange(number=number, question=f"Question {number}?", answer=f"Answer {number}.", stopped=StopReason.ANSWERED)
        for number in range(1, count + 1)
    )
    conversation = context.agent.conversation
    conversation.state = replace(conversation.state, exchanges=exchanges)
    return app_over(context)


def numbers(app: RoamApp) -> list[int]:
    return [view.exchange.number for view in app.screen.query(ExchangeView)]


async def test_only_the_newest_are_shown() -> None:
    async with running(make_long_app(EXCHANGES_MAX + 5, ScriptedReply(text="One more.")), (100, 24)) as (app, pilot):
        await wait_until(pilot, lambda: numbers(app) == list(range(6, EXCHANGES_MAX + 6)))
        await ask(pilot, "And?")
        await wait_until(pilot, lambda: numbers(app) == list(range(7, EXCHANGES_MAX + 7)))
        await pilot.press("shift+tab", "g")
        await wait_until(pilot, "6 earlier questions not shown")


async def test_an_answer_is_copied_with_its_sources() -> None:
    async with running(make_app(), SIZE) as (app, pilot):
        stone = find_id(app, "Stone oven")
        model_of(app).add_replies(expand(stone), ScriptedReply(text=f'It takes "forty loaves" [{stone}].'))
        await press_until(pilot, "No question yet", "shift+tab", "r")
        await press_until(pilot, "No answer yet", "y")
        await ask(pilot, "How many?")
        app.main_screen.panes.focus_scope(Scope.CHAT)
        await pilot.press("y")
        sources = (
            f'1. ✓ [{stone}] Larch Lane Bakery > Ovens > Stone oven, line 11 (quote found in the text): "forty loaves"'
        )
        assert app.clipboard == f'It takes "forty loaves" [{stone}].\n\nSources:\n\n{sources}\n'
