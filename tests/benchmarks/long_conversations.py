"""Long conversations: memory over hundreds of questions, and time over five hundred steps.

Each runs in a process of its own: ``python -m tests.benchmarks.long_conversations memory``.
"""

from __future__ import annotations

import asyncio
import gc
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from statistics import linear_regression, median
from time import process_time

from roamtui.agent.loop import Agent
from roamtui.conversation.session import Session
from roamtui.conversation.state import KeepOpenMode, OpenSectionOptions
from roamtui.conversation.store import ConversationStore
from roamtui.conversation.transcript import ToolCall
from roamtui.document.source_loader import build_library
from roamtui.models.base import ModelEvent, ModelRequest, ReplyFinished, TextDelta, ToolCallReceived
from roamtui.sources.read import RawText
from tests.benchmarks.measuring import Finding, make_environ
from tests.benchmarks.terminal_program import read_memory
from tests.real_documents import PROJECT_DIR

_QUESTIONS = (10, 100, 200)
_STEPS = 500
_STEPS_A_QUESTION = 10
_GROWTH_MAX = 1.1
_EXPONENT_MAX = 1.2


class RoamingModel:
    """Opens the next section in each step and answers in every tenth; remembers nothing that it was sent."""

    name = "roaming"
    window_tokens = None

    def __init__(self, ids: list[str], steps: int) -> None:
        self._ids = ids
        self._steps = steps
        self._number = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield a call, or an answer."""
        assert request.messages
        self._number += 1
        if self._number % self._steps:
            arguments = f'{{"section_ids": ["{self._ids[self._number % len(self._ids)]}"]}}'
            yield ToolCallReceived(ToolCall(id=f"c{self._number}", name="expand_sections", arguments=arguments))
            yield ReplyFinished("tool_calls")
        else:
            yield TextDelta(f'It says "words" [{self._ids[0]}].')
            yield ReplyFinished("stop")

    async def close(self) -> None:
        """Hold nothing."""


def _make_agent(folder: str, steps: int, mode: KeepOpenMode) -> Agent:
    handbook = (PROJECT_DIR / "examples" / "handbook.md").read_text("utf-8")
    library = build_library(RawText(text=handbook * 4, source="bench.md", name="bench"))
    store = ConversationStore(Path(folder) / "conversations")
    session = Session.start(library, store=store, options=OpenSectionOptions(mode=mode))
    return Agent(session, RoamingModel(list(library.walk()), steps))


async def _ask(agent: Agent) -> None:
    async for _ in agent.ask("What does it say?"):
        pass


async def measure_memory() -> list[int]:
    """Return the bytes held after each number of questions."""
    with tempfile.TemporaryDirectory() as folder:
        agent = _make_agent(folder, 3, KeepOpenMode.KEEP)
        held = []
        for number in range(1, _QUESTIONS[-1] + 1):
            await _ask(agent)
            if number in _QUESTIONS:
                gc.collect()
                held.append(read_memory(os.getpid()))
        return held


async def measure_exponent() -> tuple[float, float, float]:
    """Return the exponent of the time until a step by its number, and the seconds of an early and of a late step."""
    with tempfile.TemporaryDirectory() as folder:
        agent = _make_agent(folder, _STEPS_A_QUESTION, KeepOpenMode.ALL)
        begin = process_time()
        moments = []
        for _ in range(_STEPS // _STEPS_A_QUESTION):
            await _ask(agent)
            moments.append(process_time() - begin)
    steps = [_STEPS_A_QUESTION * (number + 1) for number in range(len(moments))]
    fit = linear_regression([math.log(step) for step in steps], [math.log(moment) for moment in moments])
    each = [(later - earlier) / _STEPS_A_QUESTION for earlier, later in zip([0.0, *moments], moments, strict=False)]
    return fit.slope, median(each[:10]), median(each[-10:])


def bench_long_conversations() -> list[Finding]:
    """Return what was found, each measured in a new process."""
    few, many, more = map(int, _run("memory"))
    exponent, early, late = map(float, _run("steps"))
    return [
        Finding(what=f"memory after {_QUESTIONS[1]} questions / after {_QUESTIONS[0]}", value=f"{many / few:.2f}"),
        Finding(
            what=f"memory after {_QUESTIONS[2]} questions / after {_QUESTIONS[1]}",
            value=f"{more / many:.2f}",
            goal=f"≤ {_GROWTH_MAX:g}",
            is_met=more / many <= _GROWTH_MAX,
        ),
        Finding(
            what=f"time of a conversation by its steps, up to {_STEPS}: exponent",
            value=f"{exponent:.2f}",
            goal=f"≤ {_EXPONENT_MAX:g}",
            is_met=exponent <= _EXPONENT_MAX,
        ),
        Finding(what="one of its first 100 steps", value=f"{early * 1_000:.1f} ms"),
        Finding(what="one of its last 100 steps", value=f"{late * 1_000:.1f} ms"),
    ]


def _run(what: str) -> list[str]:
    command = [sys.executable, "-m", "tests.benchmarks.long_conversations", what]
    return subprocess.run(
        command, cwd=PROJECT_DIR, env=make_environ(), check=True, capture_output=True, text=True
    ).stdout.split()


if __name__ == "__main__":
    measured = asyncio.run(measure_memory() if sys.argv[1] == "memory" else measure_exponent())
    sys.stdout.write(" ".join(map(str, measured)) + "\n")
