"""An error of a model in every place that shows it: its words are there, and nothing that a terminal obeys."""

import re

import pytest

from roamtui.agent.agent import Agent
from roamtui.errors import ModelError
from roamtui.export.html import render_html
from roamtui.export.json import render_json
from roamtui.export.markdown import render_markdown
from roamtui.headless.ask import OutputFormat, run_ask
from tests.agent.asking import expanding, ids, make_agent, model_of
from tests.fakes.scripted_model import ScriptedReply
from tests.fakes.services import app_over, session_of
from tests.tui.driving import running

_ERROR = ModelError("Odd \x1b]0;t\x07 server \x9b31m at \u202ework.")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


def _make_failing(steps: int) -> Agent:
    """Return an agent whose model fails after so many steps."""
    agent = make_agent()
    model_of(agent).add_replies(*[expanding(*ids(agent, "Fees"))] * steps, ScriptedReply(text="Half an", error=_ERROR))
    return agent


def _check(written: str) -> None:
    assert all(word in written for word in ("Odd", "server", "work."))
    assert _CONTROL.search(written) is None


@pytest.mark.parametrize("steps", [0, 1])
@pytest.mark.parametrize("output_format", OutputFormat)
async def test_commands_and_exports_tell_it(
    steps: int, output_format: OutputFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = _make_failing(steps)
    assert await run_ask(agent, "How much?", output_format=output_format) == 1
    out, err = capsys.readouterr()
    _check(err)
    assert _CONTROL.search(out) is None
    state = agent.conversation.state
    for page in (render_markdown(state, "a.md"), render_json(state, "a.md"), render_html(state, "a.md")):
        _check(page)


@pytest.mark.parametrize("steps", [0, 1])
async def test_the_app_tells_it(steps: int) -> None:
    async with running(app_over(session_of(_make_failing(steps))), (50, 20)) as ui:
        await ui.ask("How much?")
        _check(ui.text)
