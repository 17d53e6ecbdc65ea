"""Text of documents, models and people is shown as text, however wide: no markup or control sequence acts."""

from textual import events
from textual.widgets import Input

from roamtui.tui.context import Inbox
from tests.fakes.scripted_model import ScriptedReply
from tests.tui.driving import expand, make_app, running

SIZES = ((200, 50), (80, 24), (50, 20))
ODD = "[/red] Odd [@click=app.quit]titles[/]"
MARKUP = "[/red] and [@click=app.quit]x[/] and [b]bold"
CONTROLS = "a\x1b]52;c;AAAA\x07b\x1b[31mc\x9b2Jd\x00e\u202ef"
SHOWN = "a␛]52;c;AAAA␇b␛[31mc�2Jd␀e�f"
PASTED = "a]52;c;AAAAb[31mc2Jde�f"


async def test_markup_is_text_everywhere() -> None:
    async with running(make_app(), (200, 50)) as ui:
        odd = ui.find_id(ODD)
        reply = f"{MARKUP} `{MARKUP}`\n\n- {MARKUP}\n\n| {MARKUP} |\n|---|\n| {MARKUP} |\n\n```\n{MARKUP}\n```\n[{odd}]"
        await ui.ask(f"What of {MARKUP}?", expand(odd), ScriptedReply(text=reply, thinking=MARKUP))
        ui.outline.go_to(odd)
        await ui.press("escape", "enter")
        text = ui.text
        assert text.count(MARKUP) >= 6
        assert text.count(ODD[:30]) >= 4, "in tree, activity, sources and reader"
        assert ui.app.is_running
        for row, line in enumerate(text.split("\n")):
            start = line.find("x[/]")
            if start >= 0:
                await ui.click(offset=(start, row))
        assert ui.app.is_running


async def test_control_sequences_are_shown_as_signs() -> None:
    app = make_app(text=f"# Top {CONTROLS}\n\n## Below {CONTROLS}\n\nText {CONTROLS}\n", notices=Inbox([CONTROLS]))
    async with running(app, (200, 50)) as ui:
        below = next(iter(ui.state.library.walk()))
        quote = f'"{CONTROLS}" [{below}]'
        await ui.ask(f"What {CONTROLS}", expand(below), ScriptedReply(text=quote, thinking=CONTROLS))
        await ui.press("escape", "j", "enter")
        text = ui.text
    assert not set(text) & {"\x1b", "\x07", "\x9b", "\x00", "\u202e"}
    assert text.count(SHOWN.split("2J", maxsplit=1)[0].split("e�", maxsplit=1)[0]) >= 4


async def test_what_is_pasted_has_no_control_sequences_wherever_it_goes() -> None:
    async with running(make_app(), (120, 40)) as ui:
        ui.box.fill("ab")
        await ui.press("left")
        ui.app.post_message(events.Paste("1\r\n\x1b[2J"))
        await ui.wait_until(lambda: ui.box.text == "a1\n[2Jb")
        await ui.press_until(lambda: isinstance(ui.app.focused, Input), "ctrl+f")
        ui.app.post_message(events.Paste(CONTROLS))
        await ui.wait_until(lambda: isinstance(ui.app.focused, Input) and ui.app.focused.value == PASTED)
