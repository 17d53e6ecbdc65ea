"""An answer: its words, marks and links, the sources below it, and what of a conversation is in view."""

import asyncio
import re

import pytest
from msgspec.structs import replace

from roamtui.conversation.citations import Citation, Nearest, QuoteState
from roamtui.conversation.events import StopReason
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.notices import Severity
from roamtui.conversation.state import Exchange
from roamtui.markdown.quoted_sentence import QuotedSentence
from roamtui.opening.loader import make_document_library
from roamtui.sources.read import SourceText
from roamtui.text import Span
from roamtui.tui.actions import Scope, make_keymap
from roamtui.tui.chat.exchange_view import ExchangeView
from roamtui.tui.messages import SectionTarget
from tests.fakes.scripted_model import ScriptedReply
from tests.tui.driving import RunningApp, expand, make_app, running


async def answer(ui: RunningApp, text: str) -> None:
    await ui.ask("Where?", text, text)


async def test_a_click_on_a_link_follows_it_and_on_a_citation_jumps() -> None:
    async with running(make_app(), (120, 35)) as ui:
        await answer(ui, f"Of **[steam *let in*](#steam)** and loaves [{ui.find_id('Deck oven')}].")
        await ui.click_on("let in")
        await ui.reach("Steam")
        ui.focus(Scope.CHAT)
        await ui.wait_until("Of steam let in and loaves [1]")
        await ui.click_on("1]")
        await ui.reach("Deck oven")


LIBRARY = make_document_library(
    SourceText(text="# Fees\n\nOne two.\n\n## Late\n\nThree four.\n", source="a.md", name="a")
)
FEES, LATE = LIBRARY.walk()


def make_view(text: str, *citations: Citation) -> ExchangeView:
    exchange = Exchange(number=1, question="?", answer=text, stopped=StopReason.ANSWERED, citations=citations)
    return ExchangeView(exchange, LIBRARY, make_keymap())


def test_a_quote_has_the_style_of_its_verdict_and_its_mark_a_sign() -> None:
    text = 'So "one" [a8a96034]. But "two" [a8a96034]. Or "six" [a8a96034].'
    citations = []
    for quote, state in (("one", QuoteState.EXACT), ("two", QuoteState.ELSEWHERE), ("six", QuoteState.NOT_FOUND)):
        start = text.index(f'"{quote}"')
        end = start + len(quote) + 2
        citations.append(
            Citation(section_id="a8a96034", quote=quote, state=state, start=start, end=end, marks=(end + 1,))
        )
    content = make_view(text, *citations).draw(80)[2]
    assert content.plain == ' So "one" [1 ✓]. But "two" [2 !]. Or "six" [3 ✗].'
    styles = {content.plain[start:end]: style for start, end, style in content.spans}
    quoted = [styles[f'"{word}"'] for word in ("one", "two", "six")]
    assert quoted == ["underline $text-success", "underline $text-warning", "strike $text-error"]


def test_a_sentence_without_a_source_has_a_style_up_to_the_quote_in_it_and_is_named_below() -> None:
    text = "It is two. It is six of them."
    six = text.index("six")
    citation = Citation(
        section_id="a8a96034", quote="six", state=QuoteState.NOT_FOUND, start=six, end=six + 3, marks=()
    )
    exchange = make_view(text, citation).exchange
    view = ExchangeView(replace(exchange, unsourced=((11, 29),)), LIBRARY, make_keymap())
    lines = view.draw(80)
    content = lines[2]
    styles = {content.plain[start:end]: style for start, end, style in content.spans}
    unsourced = "italic $text-warning"
    assert styles == {"It is ": unsourced, "six": "strike $text-error", " of them.": unsourced}
    assert any("no source for 1 statement: It is six of them." in line.plain for line in lines)


def cite(section_id: str, quote: str | None, state: QuoteState = QuoteState.EXACT, line: int = 3) -> Citation:
    return Citation(section_id=section_id, quote=quote, state=state, doc="a.md", start_line=line, end_line=line)


def test_each_citation_has_one_line_and_no_quote_that_the_answer_has() -> None:
    answer = '"one [link](#x)", "two", "three", "four" and "Three"'
    elsewhere = cite(FEES, "Three", QuoteState.ELSEWHERE, line=7)
    elsewhere = replace(elsewhere, span=Span(doc="", start=27, end=32), doc="")
    view = make_view(
        answer,
        cite(FEES, "one [link](#x)"),
        cite(LATE, None, QuoteState.NO_QUOTE, line=8),
        cite(FEES, "two", QuoteState.EXACT),
        cite(FEES, "five", line=5),
        cite(LATE, "four", QuoteState.NOT_FOUND),
        elsewhere,
    )
    assert [line.plain for line in view.draw(100)[-8:]] == [
        " Sources  5 quotes: 3 found in the text, 1 found in another section, 1 not in the text that the",
        "          model read",
        "  1 ✓ a.md › Fees · line 3",
        "  2 a.md › Late · line 8, no quote",
        "  3 ✓ a.md › Fees · line 3",
        "  4 ✓ a.md › Fees · line 5 “five”",
        "  5 ✗ a.md › Late · not in the text that the model read",
        "  6 ! Fees · these words are in Late, line 7",
    ]
    assert view.targets[-1] == SectionTarget(LATE, elsewhere)


def test_below_a_false_quote_stand_the_nearest_words_with_what_differs_in_a_colour_of_its_own() -> None:
    nearest = Nearest(text="Three four.", span=Span(doc="", start=27, end=38), is_read=False, place="line 7")
    view = make_view('"Three five."', replace(cite(LATE, "Three five.", QuoteState.NOT_FOUND), nearest=nearest))
    line = view.draw(100)[-1]
    assert line.plain == "    nearest, line 7 (not read by the model): Three five. → four."
    styles = {line.plain[start:end]: style for start, end, style in line.spans}
    assert (styles["five."], styles["four."]) == ("strike $text-secondary", "bold $text-secondary")


CLAUSE = "The tenant may, but only after written consent of the landlord, sublet parts of the flat to others."


def test_below_a_source_stands_the_documents_sentence_with_the_quote_bright() -> None:
    start = CLAUSE.index("sublet")
    surroundings = QuotedSentence(sentence=CLAUSE, quoted=((start, start + 27),), struck=((11, 14),))
    view = make_view('"sublet parts of the flat to"', replace(cite(FEES, "sublet"), surroundings=surroundings))
    for width, count in ((60, 2), (40, 3)):
        lines = view.draw(width)[-count:]
        assert " ".join(line.plain.strip() for line in lines) == CLAUSE, "three lines have room for all of it"
    cut = " ".join(line.plain.strip() for line in view.draw(30)[-4:])
    assert "landlord, sublet" in cut
    assert "[… " in cut
    view.select_target(view.source_range[0])
    assert " ".join(line.plain.strip() for line in view.draw(30)[-5:]) == CLAUSE
    lines = view.draw(60)[-2:]
    styles = {line.plain[start:end].strip(): style for line in lines for start, end, style in line.spans}
    assert (styles["may"], styles["others."]) == ("$muted strike", "$muted")
    assert [words for words, style in styles.items() if style == "$foreground"] == ["sublet parts of the flat to"]
    right_to_left = replace(surroundings, sentence="לא ניתן להעביר", quoted=((3, 7),), struck=())
    line = make_view("x", replace(cite(FEES, "x"), surroundings=right_to_left)).draw(70)[-1]
    assert line.plain == "    \u2068לא ניתן להעביר\u2069", "a line from right to left is isolated"


USUAL, WIDE = (120, 35), (160, 45)


async def answer_about_ovens(ui: RunningApp) -> None:
    """Have a question answered with three citations: two in the text, one not."""
    stone, deck = ui.find_id("Stone oven"), ui.find_id("Deck oven")
    text = (
        f'The deck oven: "The deck oven takes ninety loaves" [{deck}].\n\n'
        f'The stone oven: "It must rest for one hour" [{stone}].\n\n'
        f'Both: "The stone oven takes fifty loaves" [{stone}].'
    )
    await ui.ask("Which oven is larger?", expand(stone, deck), text)


def get_selected(ui: RunningApp) -> int | None:
    view = ui.last
    return None if view.selected_index is None else view.source_range.index(view.selected_index)


async def test_digits_select_quotes_in_every_pane_and_show_them_where_the_conversation_does_not(
    store: ConversationStore,
) -> None:
    async with running(make_app(store=store), USUAL) as ui:
        await answer_about_ovens(ui)
        await ui.focus(Scope.CHAT).press("2")
        assert get_selected(ui) == 1
        await ui.press_until("There is no quote 9", "9")
        await ui.press("f6", "escape")  # the hint is clicked after a key whose name ends in a digit
        await ui.main.run_action("select_quote")
        await ui.wait_until("Press the number of a quote")
        assert (get_selected(ui), ui.app.focused) == (1, ui.chat)
        for scope, key, title in ((Scope.TREE, "1", "Deck oven"), (Scope.READER, "2", "Stone oven")):
            await ui.focus(scope).reach(title, key)
            assert ui.main.panes.scope is scope
            assert get_selected(ui) == int(key) - 1


async def test_digits_and_selecting_begin_at_what_is_on_the_screen() -> None:
    async with running(make_app(), SIZE) as ui:
        for _ in range(3):
            await answer_about_ovens(ui)
        first, _, last = ui.chat.shown
        for key, view in (("home", first), ("end", last)):
            await ui.focus(Scope.CHAT).press(key, "2")
            assert ui.chat.target_selection.view is view
            await ui.press("escape")
        await ui.focus(Scope.CHAT).press_until(lambda: ui.chat.target_selection.view is first, "home")
        await ui.press_until(lambda: ui.chat.target_selection.view is last, "end")
        await ui.press(*["pageup"] * 5, "j")
        assert (ui.chat.target_selection.view, ui.chat.scroll_y) == (first, 0)
        await ui.press(*["pagedown"] * 5, "k")
        assert ui.chat.target_selection.view is last


async def test_a_digit_selects_the_last_quote_with_its_number_that_is_on_the_screen() -> None:
    async with running(make_app(), USUAL) as ui:
        stone, deck = ui.find_id("Stone oven"), ui.find_id("Deck oven")
        await ui.ask("Which rests?", expand(stone), f'It: "It must rest for one hour" [{stone}].')
        await ui.ask("Which is larger?", expand(deck), f'It: "The deck oven takes ninety loaves" [{deck}].')
        for _ in range(2):  # scrolling to the first selection keeps the older answer at the top
            await ui.focus(Scope.CHAT).press("1")
            assert ui.chat.target_selection.view is ui.last
            await ui.press("escape")


async def test_where_the_reader_has_room_it_shows_the_first_citation_and_each_selected_one() -> None:
    async with running(make_app(), WIDE) as ui:
        await answer_about_ovens(ui)
        await ui.reach("Deck oven")
        assert ui.app.focused is ui.box
        ui.chat.action_move_sideways(1)
        ui.chat.action_move_sideways(1)
        await ui.reach("Stone oven")


LONG = "The answer begins here.\n\n" + "\n\n".join(f"Paragraph {number}." for number in range(40))
SIZE = (80, 24)


async def test_a_long_answer_stays_at_its_beginning() -> None:
    async with running(make_app([LONG]), SIZE) as ui:
        await ui.ask(f"What{' is the matter' * 5} here?")
        assert "❯ What is the matter" in ui.text
        assert "The answer begins here." in ui.text
        assert "Paragraph 39." not in ui.text
        assert "❯ What" not in find_top_line(ui)
        await ui.focus(Scope.CHAT).press_until("Paragraph 9.", "pagedown")
        assert re.search(r"❯ What is the matter.*…$", find_top_line(ui))
        await ui.press_until(lambda: "❯ What" not in find_top_line(ui), "home")


def find_top_line(ui: RunningApp) -> str:
    """Return the line above the conversation."""
    return ui.rows[2].rstrip()


@pytest.mark.parametrize("keys", [("end", "home"), ("pagedown",)], ids=" ".join)
async def test_what_a_person_scrolled_to_stays_there_while_an_answer_grows_and_a_notice_comes(
    keys: tuple[str, ...],
) -> None:
    gate = asyncio.Event()
    words = ScriptedReply(text=f"{LONG}\n\nMore of it.", chunk_size=len(LONG), gate=gate, gate_after=1)
    async with running(make_app(), SIZE) as ui:
        steps = [expand(ui.find_id(title)) for title in ("Stone oven", "Deck oven", "Steam", "Starter")]
        ui.model.add_replies(*steps, words)
        await ui.send("What?", "The answer begins here.")
        await ui.focus(Scope.CHAT).press(*keys)
        top = list_top_lines(ui)
        await ui.open_gate(gate)
        await ui.wait_until("End of the answer below · end shows it")
        assert list_top_lines(ui) == top
        for severity, name in ((Severity.INFO, "notice"), (Severity.WARNING, "warning")):
            ui.chat.add_notice("Something else happened.", severity)
            await ui.wait_until(f"New {name} below · end shows it")
            assert list_top_lines(ui) == top
        await ui.press_until("Something else happened.", "end")


async def test_a_notice_is_said_to_be_below_only_if_it_is() -> None:
    async with running(make_app(["So."]), SIZE) as ui:
        await ui.ask("Why?")
        ui.chat.stop_following()
        notice = "So."
        while notice in ui.text:
            assert "below" not in ui.text
            notice += "."
            ui.chat.add_notice(notice)
            await ui.rest()
        await ui.wait_until("New notice below")


def list_top_lines(ui: RunningApp) -> list[str]:
    """Return the first two lines of the conversation that are in view, without the scroll bar."""
    region = ui.chat.region
    rows = ui.rows[region.y : region.y + 2]
    return [row[region.x : region.right - 1].rstrip() for row in rows]


@pytest.mark.parametrize(
    ("keys", "place", "width"),
    [(("pagedown", "pagedown"), Scope.CHAT, 70), (("end",), Scope.READER, 70), ((), Scope.CHAT, 130)],
)
async def test_the_conversation_stays_where_it_was_when_the_width_changes(
    keys: tuple[str, ...], place: Scope, width: int
) -> None:
    text = "\n\n".join(f"Paragraph {number}. {'word ' * 40}" for number in range(40))
    async with running(make_app([text]), (100, 30)) as ui:
        await ui.ask("What?")
        await ui.focus(Scope.CHAT).press(*keys)
        width_before = ui.chat.size.width
        was_at_end = ui.chat.scroll_y == ui.chat.max_scroll_y
        first = re.findall(r"What\?|Paragraph \d+", ui.text)[0]
        ui.focus(place)
        await ui.pause()
        await ui.pilot.resize_terminal(width, 30)
        ui.focus(Scope.CHAT)
        await ui.wait_until(lambda: ui.chat.size.width != width_before)
        await ui.wait_until(lambda: ui.chat.scroll_y == ui.chat.max_scroll_y if was_at_end else first in ui.text)


async def test_only_the_newest_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.tui.chat.chat_log.EXCHANGES_MAX", 2)
    async with running(make_app(["So."] * 3), SIZE) as ui:
        for question in ("One?", "Two?", "Three?"):
            await ui.ask(question)

        def is_newest_shown() -> bool:
            return [view.exchange.number for view in ui.app.screen.query(ExchangeView)] == [2, 3]

        await ui.wait_until(is_newest_shown)
        ui.chat.reload()
        await ui.wait_until(is_newest_shown)
        await ui.press_until("1 earlier question not shown", "shift+tab", "home")


async def test_a_selected_quote_is_copied_with_its_source_and_verdict_or_else_the_last_answer() -> None:
    async with running(make_app(), (120, 35)) as ui:
        deck = ui.find_id("Deck oven")
        await ui.ask("One?", expand(deck), f'First: "The deck oven takes a hundred loaves" [{deck}].')
        await ui.ask("Two?", f'Second: "The deck oven takes a hundred loaves" [{deck}].')
        ui.focus(Scope.CHAT)
        await ui.press_until(lambda: ui.app.clipboard.startswith("Second"), "y")
        quote = "The deck oven takes a hundred loaves\n\n(Larch Lane Bakery › Ovens › Deck oven · "
        await ui.press_until(lambda: ui.app.clipboard.startswith(quote), "1", "y")
        assert ui.app.clipboard.endswith(" · quote not in the text that the model read)\n")
