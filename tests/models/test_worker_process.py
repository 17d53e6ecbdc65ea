"""How the program deals with its model process: several jobs, cancellation, crashes, the end."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import pytest

from roamtui.errors import ModelError
from roamtui.models.base import ModelStopped, Retrying, TextDelta
from roamtui.models.litellm_model import LitellmModel, WorkerProcess
from roamtui.models.options import ModelOptions
from tests.fakes import model_process
from tests.models.asking import collect, join_text, make_request

FAKE = str(Path(model_process.__file__))
QUICK = "be quick"

PARENT = """
import asyncio, sys
from roamtui.models.litellm_model import WorkerProcess

async def main():
    worker = WorkerProcess()
    process = await worker._start()
    print(process.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def make_model(behaviour: str, **options: float) -> tuple[LitellmModel, WorkerProcess]:
    worker = WorkerProcess(command=(FAKE, behaviour))
    settings = ModelOptions(retry_wait_seconds=0.0, retries=1, cancel_seconds=options.get("cancel_seconds", 5.0))
    return LitellmModel("fake/model", worker=worker, options=settings), worker


async def read_first(model: LitellmModel, question: str) -> None:
    """Read the first piece of a reply and leave."""
    async with aclosing(model.stream(make_request(question))) as events:
        assert await anext(events) == TextDelta(question)


async def test_a_process_is_started_once_and_ended() -> None:
    model, worker = make_model("well")
    assert await collect(model) == [TextDelta("What is a model?"), ModelStopped("stop")]
    pid = worker.pid
    assert pid is not None
    assert join_text(await collect(model, make_request("again"))) == "again"
    assert worker.pid == pid
    await worker.close()
    assert not is_alive(pid)


async def test_a_model_that_is_known_waits_for_no_process() -> None:
    model, worker = make_model("well")
    await model.start()
    assert worker.pid is not None
    assert model.window_tokens == 9_000
    await worker.close()
    await model.start()
    assert worker.pid is None


async def test_a_model_leaves_a_shared_process_alone() -> None:
    model, worker = make_model("well")
    await collect(model)
    await model.close()
    assert worker.pid is not None
    await worker.close()


async def test_jobs_at_once_get_their_own_replies() -> None:
    model, worker = make_model("well")
    questions = [f"question {number}" for number in range(20)]
    replies = await asyncio.gather(*(collect(model, make_request(question)) for question in questions))
    assert [join_text(reply) for reply in replies] == questions
    await worker.close()


async def test_a_confirmed_cancellation_keeps_the_process() -> None:
    model, worker = make_model("slow")
    await read_first(model, "take your time")
    pid = worker.pid
    assert pid is not None
    assert join_text(await collect(model, make_request(QUICK))) == QUICK
    assert worker.pid == pid
    await worker.close()


async def test_a_cancellation_that_is_not_confirmed_ends_the_process() -> None:
    model, worker = make_model("deaf", cancel_seconds=0.05)
    await read_first(model, "never to end")
    assert worker.pid is None
    assert join_text(await collect(model, make_request(QUICK))) == QUICK
    await worker.close()


async def test_a_second_cancellation_does_not_wait() -> None:
    model, worker = make_model("deaf", cancel_seconds=600.0)
    has_begun = asyncio.Event()

    async def read() -> None:
        async for _ in model.stream(make_request("never to end")):
            has_begun.set()

    task = asyncio.create_task(read())
    await has_begun.wait()
    task.cancel()
    for _ in range(3):
        await asyncio.sleep(0)
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert worker.pid is None
    await worker.close()


async def test_a_crash_before_the_reply_is_tried_again_and_told() -> None:
    model, worker = make_model("crash")
    events: list[object] = []
    with pytest.raises(ModelError, match="process ended unexpectedly; ask again"):
        await collect_into(events, model)
    assert [type(event) for event in events] == [Retrying]
    await worker.close()


@pytest.mark.parametrize("behaviour", ["crash later", "babble"])
async def test_a_crash_within_a_reply_is_told(behaviour: str) -> None:
    model, worker = make_model(behaviour)
    events: list[object] = []
    with pytest.raises(ModelError, match="process ended unexpectedly"):
        await collect_into(events, model)
    assert events == [TextDelta("What is a model?")]
    assert worker.pid is None
    await worker.close()


async def test_a_process_that_cannot_run_is_told() -> None:
    model, worker = make_model("absent")
    with pytest.raises(ModelError, match="process ended unexpectedly"):
        await collect(model)
    await model.start()
    assert model.window_tokens is None
    await worker.close()


async def test_a_process_that_cannot_be_started_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model, worker = make_model("well")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    with pytest.raises(ModelError, match="could not be started"):
        await collect(model)
    await worker.close()


async def collect_into(events: list[object], model: LitellmModel) -> None:
    async for event in model.stream(make_request()):
        events.append(event)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells of the end of another's child")
def test_the_process_ends_with_the_program() -> None:
    with subprocess.Popen((sys.executable, "-c", PARENT), stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        watch = os.pidfd_open(int(parent.stdout.readline()))
        try:
            assert not select.select([watch], [], [], 0)[0]
            parent.send_signal(signal.SIGKILL)
            assert select.select([watch], [], [], 30)[0]
        finally:
            os.close(watch)
