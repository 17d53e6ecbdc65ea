"""Through how much code a question goes: `python -m tests.benchmarks.hops [--list]`.

Counts the functions of roamtui, and their files, that are called in any thread of the real app, 120 × 35, with a
scripted model: from Enter to the cited answer of the second question, in which the model opens one section; and from a
call of `expand_sections` to the line that tells of it. Lambdas and comprehensions are no named functions.
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
from roamtui.conversation.session import Session
from roamtui.conversation.store import ConversationStore
from roamtui.library_loader import open_library
from roamtui.models.base import ModelRequest
from roamtui.search.keyword import KeywordSearcher
from roamtui.tui.app import RoamApp
from roamtui.tui.context import AppContext
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.real_documents import PROJECT_DIR
from tests.tui.driving import ask, expand, find_id, screen_text, wait_until

_PACKAGE_DIR = f"{Path(roamtui.__file__).parent}/"
_HANDBOOK = PROJECT_DIR / "examples" / "handbook.md"


class Count:
    """What is called while it is on, in every thread that begins after `watch`."""

    def __init__(self) -> None:
        self.is_on = False
        self._codes: dict[CodeType, threading.Thread] = {}

    def watch(self) -> None:
        """Look at every call from now on."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def _note(self, frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if self.is_on and event == "call" and code not in self._codes and code.co_filename.startswith(_PACKAGE_DIR):
            self._codes[code] = threading.current_thread()

    def take(self) -> list[str]:
        """Return the functions that were called, by file and name, and begin anew."""
        self.is_on = False
        names = {f"{code.co_filename.removeprefix(_PACKAGE_DIR)}: {code.co_qualname}" for code in self._codes}
        self._codes.clear()
        return sorted(names)


async def count_hops() -> dict[str, list[str]]:
    """Return the functions that are called on each way."""
    with TemporaryDirectory() as folder:
        library = open_library((str(_HANDBOOK),))
        store = ConversationStore(Path(folder) / "conversations")
        model, count, gate = ScriptedModel(), Count(), asyncio.Event()
        agent = Agent(Session.start(library, store=store), model, KeywordSearcher(library))
        app = RoamApp(AppContext(agent=agent))
        app.animation_level = "none"
        count.watch()
        async with app.run_test(size=(120, 35)) as pilot:
            sites, locker, classes = (find_id(app, title) for title in ("Sites", "Returns locker", "Item classes"))

            def begin(_request: ModelRequest) -> ScriptedReply:
                count.is_on = True
                return expand(classes)

            model.add_replies(
                expand(sites),
                ScriptedReply(text=f"There are three sites [{sites}]."),
                expand(locker),
                ScriptedReply(text=f'It takes "small items at any hour of the day or night" [{locker}].'),
                begin,
                ScriptedReply(text=f"There are several [{classes}].", gate=gate),
            )
            await ask(pilot, "Where are you?")
            screen = app.main_screen
            screen.question_box.fill("What does the locker take?")
            screen.question_box.focus()
            await pilot.pause()
            count.is_on = True
            await pilot.press("enter")
            await wait_until(pilot, lambda: "1/1 quote" in screen_text(app) and not screen.is_asking)
            ways = {"Enter to a cited answer, second question": count.take()}
            screen.question_box.fill("Which classes are there?")
            await pilot.press("enter")
            await wait_until(pilot, lambda: "Item classes" in screen_text(app).rpartition("Which classes")[2])
            ways["expand_sections to the line that tells of it"] = count.take()
            gate.set()
            await wait_until(pilot, lambda: not screen.is_asking)
        return ways


def main() -> None:
    """Print the counts; with `--list` the functions too."""
    ways = asyncio.run(count_hops())
    sys.setprofile(None)
    for way, functions in ways.items():
        files = {name.partition(":")[0] for name in functions}
        named = sum("<" not in name.rpartition(".")[2] for name in functions)
        sys.stdout.write(f"{way}: {len(functions)} functions ({named} of them named) in {len(files)} files\n")
        if "--list" in sys.argv:
            sys.stdout.writelines(f"  {name}\n" for name in functions)


if __name__ == "__main__":
    main()
