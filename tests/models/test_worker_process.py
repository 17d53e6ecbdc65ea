"""The model process: several jobs, cancellation, crashes, its end, and what it keeps from libraries."""

import asyncio
import os
import select
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path

import pytest
import pytest_asyncio

from roamtui.errors import ModelError
from roamtui.models.base import ModelEvent, ReplyFinished, RetryPending, TextDelta
from roamtui.models.litellm_model import LitellmModel
from roamtui.models.options import ModelOptions
from roamtui.models.worker_process import WorkerProcess
from tests.fakes import model_process
from tests.models.asking import collect, collect_into, join_text, make_request

FAKE = str(Path(model_process.__file__))
QUICK = "be quick"

PARENT = """
import asyncio, sys
from roamtui.models.worker_process import WorkerProcess

async def main():
    worker = WorkerProcess()
    process = await worker._start()
    print(process.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


MakeModel = Callable[..., tuple[LitellmModel, WorkerProcess]]


@pytest_asyncio.fixture
async def make_model() -> AsyncIterator[MakeModel]:
    """Return what makes a model and its process, which ends with the test."""
    workers: list[WorkerProcess] = []

    def make(behaviour: str, *, cancel_seconds: float = 5.0) -> tuple[LitellmModel, WorkerProcess]:
        workers.append(WorkerProcess(command=(FAKE, behaviour)))
        settings = ModelOptions(retry_wait_seconds=0.0, retries=1, cancel_seconds=cancel_seconds)
        return LitellmModel("fake/model", worker=workers[-1], options=settings), workers[-1]

    yield make
    for worker in workers:
        await worker.close()


async def read_first(model: LitellmModel, question: str) -> None:
    """Read the first piece of a reply and leave."""
    async with aclosing(model.stream(make_request(question))) as events:
        assert await anext(events) == TextDelta(question)


def test_a_copy_of_a_model_has_its_own_process() -> None:
    model = LitellmModel("fake/model")
    assert model.copy()._worker is not model._worker


async def test_a_process_is_started_once_and_ended(make_model: MakeModel) -> None:
    model, worker = make_model("well")
    assert await collect(model) == [TextDelta("What is a model?"), ReplyFinished("stop")]
    pid = worker.pid
    assert pid is not None
    assert join_text(await collect(model, make_request("again"))) == "again"
    assert worker.pid == pid
    await worker.close()
    assert not is_alive(pid)


async def test_jobs_at_once_get_their_own_replies(make_model: MakeModel) -> None:
    model, _ = make_model("well")
    questions = [f"question {number}" for number in range(20)]
    replies = await asyncio.gather(*(collect(model, make_request(question)) for question in questions))
    assert [join_text(reply) for reply in replies] == questions


async def test_a_cancellation_that_is_not_confirmed_ends_the_process(make_model: MakeModel) -> None:
    model, worker = make_model("deaf", cancel_seconds=0.05)
    await read_first(model, "never to end")
    assert worker.pid is None
    waiting = asyncio.create_task(collect(model))
    await asyncio.sleep(0)
    waiting.cancel()  # while it waits for the end of the process
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert worker.pid is None
    assert join_text(await collect(model, make_request(QUICK))) == QUICK


async def test_a_crash_before_the_reply_is_tried_again_and_told(make_model: MakeModel) -> None:
    model, _ = make_model("crash")
    events: list[ModelEvent] = []
    with pytest.raises(ModelError, match=r"process has ended\. Ask again"):
        await collect_into(events, model)
    assert [type(event) for event in events] == [RetryPending]


@pytest.mark.parametrize("behaviour", ["crash later", "babble", "give up"])
async def test_a_crash_within_a_reply_is_told(make_model: MakeModel, behaviour: str) -> None:
    model, worker = make_model(behaviour)
    events: list[ModelEvent] = []
    with pytest.raises(ModelError, match="process has ended"):
        await collect_into(events, model)
    assert events == [TextDelta("What is a model?")]
    assert (worker.pid is None) is (behaviour != "give up")


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
            parent.kill()
            assert select.select([watch], [], [], 30)[0]
        finally:
            os.close(watch)
            parent.kill()


SCRIPT = """
import os, sys
from roamtui.models.litellm_worker import claim_stdio

inward, outward = claim_stdio()
print("noise of a library")
os.system("echo noise of a program; echo noise >&2")
print("more noise", file=sys.stderr, flush=True)
stolen = sys.stdin.read()
os.write(outward, b"frame " + inward.read() + stolen.encode())
"""


def test_what_libraries_print_or_read_stays_off_the_pipes() -> None:
    result = subprocess.run((sys.executable, "-c", SCRIPT), input=b"job", capture_output=True, check=True)
    assert (result.stdout, result.stderr) == (b"frame job", b"")
