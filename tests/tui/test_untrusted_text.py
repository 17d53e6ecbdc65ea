"""Text of documents, models and people is shown as text, however wide: no markup or control sequence acts."""

from pathlib import Path

import pytest
from textual import events
from textual.widgets import Input

from roamtui.conversation.events import Origin
from roamtui.conversation.update import ExpandSections
from roamtui.tui.actions import Scope
from tests.fakes.scripted_model import ScriptedReply
from tests.tui.driving import (
    ask,
    expand,
    find_id,
    make_app,
    model_of,
    press_until,
    run,
    running,
    screen_text,
    wait_until,
)

SIZES = ((200, 50), (80, 24), (50, 20))
ODD = "[/red] Odd [@click=app.quit]titles[/]"
MARKUP = "[/red] and [@click=app.quit]x[/] and [b]bold"
CONTROLS = "a\x1b]52;c;AAAA\x07b\x1b[31mc\x9b2Jd\x00e\u202ef"
SHOWN = "a␛]52;c;AAAA␇b␛[31mc�2Jd␀e�f"


async def test_markup_is_text_everywhere() -> None:
    async with running(make_app(), (200, 50)) as (app, pilot):
        odd = find_id(app, ODD)
        reply = f"{MARKUP} `{MARKUP}`\n\n- {MARKUP}\n\n| {MARKUP} |\n|---|\n| {MARKUP} |\n\n```\n{MARKUP}\n```\n[{odd}]"
        model_of(app).add_replies(expand(odd), ScriptedReply(text=reply, thinking=MARKUP))
        await ask(pilot, f"What of {MARKUP}?")
        app.main_screen.tree_pane.outline.go_to(odd)
        await pilot.press("escape", "enter")
        await pilot.pause()
        text = screen_text(app)
        assert text.count(MARKUP) >= 6
        assert text.count(ODD[:30]) >= 4, "in tree, activity, sources and reader"
        assert app.is_running
        for row, line in enumerate(text.split("\n")):
            start = line.find("x[/]")
            if start >= 0:
                await pilot.click(offset=(start, row))
        assert app.is_running


async def test_control_sequences_are_shown_as_signs() -> None:
    app = make_app(text=f"# Top {CONTROLS}\n\n## Below {CONTROLS}\n\nText {CONTROLS}\n", notices=(CONTROLS,))
    async with app.run_test(size=(200, 50)) as pilot:
        below = next(iter(app.main_screen.conversation.state.library.walk()))
        quote = f'"{CONTROLS}" [{below}]'
        model_of(app).add_replies(expand(below), ScriptedReply(text=quote, thinking=CONTROLS))
        await ask(pilot, f"What {CONTROLS}")
        await pilot.press("escape", "j", "enter")
        await pilot.pause()
        text = screen_text(app)
    assert not set(text) & {"\x1b", "\x07", "\x9b", "\x00", "\u202e"}
    assert text.count(SHOWN.split("2J", maxsplit=1)[0].split("e�", maxsplit=1)[0]) >= 4


async def test_what_is_pasted_has_no_control_sequences_wherever_it_goes() -> None:
    async with running(make_app(), (120, 40)) as (app, pilot):
        app.main_screen.question_box.fill("ab")
        await pilot.press("left")
        app.post_message(events.Paste("1\r\n\x1b[2J"))
        await wait_until(pilot, lambda: app.main_screen.question_box.text == "a1\n␛[2Jb")
        await press_until(pilot, lambda: isinstance(app.focused, Input), "ctrl+f")
        app.post_message(events.Paste(CONTROLS))
        await wait_until(pilot, lambda: isinstance(app.focused, Input) and app.focused.value == SHOWN)


async def test_what_is_copied_has_no_control_sequences() -> None:
    async with running(make_app([ScriptedReply(text=f"Answer {CONTROLS}")]), (120, 40)) as (app, pilot):
        await ask(pilot, "What?")
        await pilot.press("shift+tab")
        app.main_screen.panes.focus_scope(Scope.CHAT)
        await press_until(pilot, lambda: bool(app.clipboard), "y")
    assert app.clipboard == f"Answer {SHOWN}\n"


@pytest.mark.slow
async def test_adversarial_documents_can_be_walked_and_read(data_dir: Path) -> None:
    files = sorted((data_dir / "adversarial" / "files").iterdir())
    small = [file for file in files if file.stat().st_size < 100_000]
    assert small
    for index, file in enumerate(small[::8]):
        app = make_app([ScriptedReply(text="Nothing.")], text=file.read_bytes().decode("utf-8", "replace"))
        async with app.run_test(size=SIZES[index % len(SIZES)]) as pilot:
            screen = app.main_screen
            await pilot.press("escape")
            await run(pilot, "tree.unfold_all")
            await pilot.press("j", "enter")
            await pilot.pause()
            ids = tuple(screen.conversation.state.library.walk())[:3]
            await screen.conversation.execute(ExpandSections(section_ids=ids, origin=Origin.PERSON))
            text = screen_text(app)
            assert app.is_running, file.name
            assert not any(ord(sign) < 32 and sign != "\n" for sign in text), file.name
