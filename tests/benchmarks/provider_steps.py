"""What a step costs over a provider's dialect: our own processor time, litellm's, and that of bare HTTP.

The provider is a program of its own: ``python -m tests.benchmarks.provider_steps ID...``.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from statistics import median
from time import process_time
from urllib.parse import urlsplit

from typing_extensions import override

from roamtui.agent.loop import Agent
from roamtui.conversation.session import Session
from roamtui.conversation.store import ConversationStore
from roamtui.document.library import Library
from roamtui.models.registry import make_model
from tests.benchmarks.measuring import Finding, make_environ
from tests.fakes.model_servers import FakeOpenAIServer, FakeReply, RecordedRequest
from tests.real_documents import PROJECT_DIR

_QUESTIONS = 12
_STEPS = 10
_CHUNK = 16
_OWN_SECONDS_MAX = 0.01
_TICK_SECONDS = os.sysconf("SC_CLK_TCK")


class EndlessServer(FakeOpenAIServer):
    """Never runs out of replies."""

    def __init__(self, ids: list[str]) -> None:
        super().__init__()
        self._ids = ids
        self._numbers = count(1)

    @override
    def take_reply(self, request: RecordedRequest) -> FakeReply:
        number = next(self._numbers)
        if number % _STEPS == 0:
            return FakeReply(text=f'It says "words" [{self._ids[0]}]. ' * 2, chunk_size=_CHUNK)
        first = 2 * number % len(self._ids)
        arguments = json.dumps({"section_ids": self._ids[first : first + 2]})
        return FakeReply(text="Let me look.", calls=(("expand_sections", arguments),), chunk_size=_CHUNK)


def serve() -> None:
    """Print the address of a server and serve until standard input ends: each tenth reply is text, the others calls."""
    with EndlessServer(sys.argv[1:]) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        sys.stdin.read()


@contextmanager
def serve_fake_provider(ids: list[str]) -> Iterator[str]:
    """Run the fake server in a process of its own, and give its address."""
    command = [sys.executable, "-m", "tests.benchmarks.provider_steps", *ids]
    with subprocess.Popen(
        command, cwd=PROJECT_DIR, env=make_environ(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def bench_provider_steps(library: Library) -> list[Finding]:
    """Return the processor time of a step: ours, litellm's, and what the same requests cost without either."""
    ids = list(library.walk())
    os.environ["OPENAI_API_KEY"] = "fake"
    with tempfile.TemporaryDirectory() as folder, serve_fake_provider(ids) as url:
        store = ConversationStore(Path(folder) / "conversations")
        own, helper = asyncio.run(_ask_all(library, store, url))
        bare = _measure_bare(url)
    own_step, helper_step = median(own) / _STEPS, median(helper) / _STEPS
    over = own_step - bare
    return [
        Finding(
            what="own CPU of a step over bare HTTP, saving included",
            value=f"{over * 1_000:.1f} ms",
            goal=f"≤ {_OWN_SECONDS_MAX * 1_000:.0f} ms",
            is_met=over <= _OWN_SECONDS_MAX,
        ),
        Finding(what="the same step: litellm, in its own process", value=f"{helper_step * 1_000:.1f} ms"),
        Finding(what="the same request over http.client", value=f"{bare * 1_000:.1f} ms"),
    ]


async def _ask_all(library: Library, store: ConversationStore, url: str) -> tuple[list[float], list[float]]:
    """Ask in one conversation; return our processor time and that of the model's process, by question."""
    model = make_model("openai/fake", api_base=url)
    own, helper = [], []
    agent = Agent(Session.start(library, store=store), model)
    try:
        for number in range(_QUESTIONS):
            gc.collect()
            before, helper_before = process_time(), _read_children_seconds()
            async for _ in agent.ask("What does it say?"):
                pass
            if number >= 2:
                own.append(process_time() - before)
                helper.append(_read_children_seconds() - helper_before)
            assert agent.session.state.transcript.exchanges[-1].answer
            assert len(agent.session.state.transcript.exchanges[-1].steps) == _STEPS - 1
    finally:
        await model.close()
    return own, helper


def _read_children_seconds() -> float:
    """Return the processor time of the running children that hold a model, all threads."""
    seconds = 0.0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text("utf-8").rpartition(")")[2].split()
            command = stat.with_name("cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[1]) == os.getpid() and b"litellm" in command:
            seconds += (int(fields[11]) + int(fields[12])) / _TICK_SECONDS
    return seconds


def _measure_bare(url: str) -> float:
    """Return the processor time of one request that is sent and read, line by line, without any library of ours."""
    parts = urlsplit(url)
    body = json.dumps({"model": "fake", "stream": True, "messages": [{"role": "user", "content": "x" * 50_000}]})
    seconds = []
    for _ in range(_QUESTIONS * _STEPS):
        before = process_time()
        connection = HTTPConnection(parts.hostname or "", parts.port)
        connection.request("POST", f"{parts.path}/chat/completions", body, {"Content-Type": "application/json"})
        for line in connection.getresponse():
            if line.startswith(b"data: {"):
                json.loads(line[6:])
        connection.close()
        seconds.append(process_time() - before)
    return median(seconds)


if __name__ == "__main__":
    serve()
