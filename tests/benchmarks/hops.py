"""Through how much code a question goes: `python -m tests.benchmarks.hops`.

Counts the named functions of roamtui, and their files, that any thread of the real app calls with a scripted model:
from Enter to the cited answer of the second question, and from a call of `expand_sections` to the line about it.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType

import roamtui
from roamtui.agent.loop import Agent
from roamtui.bootstrap import open_library
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from roamtui.models.base import ModelRequest
from roamtui.search.keyword import KeywordSearcher
from roamtui.tui.app import RoamApp
from tests.fakes.contexts import context_of
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.real_documents import PROJECT_DIR
from tests.tui.driving import ask, expand, find_id, screen_text, wait_until

_PACKAGE_DIR = f"{Path(roamtui.__file__).parent}/"


class CallTracer:
    """Notes what is called, in every thread that starts after it."""

    def __init__(self) -> None:
        self._codes: set[CodeType] = set()
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def _note(self, frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_PACKAGE_DIR) and not code.co_name.startswith("<"):
            self._codes.add(code)

    def clear(self) -> None:
        """Forget what was called."""
        self._codes.clear()

    def report(self, way: str) -> str:
        """Return how much was called."""
        files = {code.co_filename for code in self._codes}
        return f"{way}: {len(self._codes)} functions in {len(files)} files\n"


async def trace_question() -> list[str]:
    """Ask three questions in the app, and return what the second and the third call."""
    with TemporaryDirectory() as folder:
        library = open_library((str(PROJECT_DIR / "examples" / "handbook.md"),))
        model, tracer, gate = ScriptedModel(), CallTracer(), asyncio.Event()
        session = Conversation(library, store=ConversationStore(Path(folder) / "conversations"))
        app = RoamApp(context_of(Agent(session, model, KeywordSearcher(library))))
        app.animation_level = "none"
        async with app.run_test(size=(120, 35)) as pilot:
            sites, locker, classes = (find_id(app, title) for title in ("Sites", "Returns locker", "Item classes"))

            def expand_traced(_request: ModelRequest) -> ScriptedReply:
                tracer.clear()
                return expand(classes)

            model.add_replies(
                expand(sites),
                ScriptedReply(text=f"There are three sites [{sites}]."),
                expand(locker),
                ScriptedReply(text=f'It takes "small items at any hour of the day or night" [{locker}].'),
                expand_traced,
                ScriptedReply(text=f"There are several [{classes}].", gate=gate),
            )
            await ask(pilot, "Where are you?")
            box = app.main_screen.question_box
            box.fill("What does the locker take?")
            box.focus()
            await pilot.pause()
            tracer.clear()
            await pilot.press("enter")
            await wait_until(pilot, lambda: "1 quote" in screen_text(app) and not app.main_screen.is_asking)
            reports = [tracer.report("Enter to a cited answer, second question")]
            box.fill("Which classes are there?")
            await pilot.press("enter")
            await wait_until(pilot, lambda: "Item classes" in screen_text(app).rpartition("Which classes")[2])
            reports.append(tracer.report("expand_sections to the line that tells of it"))
            gate.set()
            await wait_until(pilot, lambda: not app.main_screen.is_asking)
            return reports


if __name__ == "__main__":
    sys.stdout.writelines(asyncio.run(trace_question()))
