"""Random edits in the question box: nothing fails, undo gives an earlier text, and redo gives it back.

`python -m tests.soak.box_edits --steps 100000 --seed 1` makes many.
"""

import argparse
import asyncio
import random
import sys
from collections import Counter, deque

from textual.document._wrapped_document import WrappedDocument
from textual.events import Key, Paste
from textual.keys import _character_to_key

from tests.fakes.services import make_options
from tests.soak.hands import Hands
from tests.tui.driving import make_app, wait_until_started

_TYPED = ("a", "é", "界", " ", "ctrl+j", "backspace", "delete", "ctrl+w", "ctrl+u", "ctrl+k", "ctrl+shift+k")
_MOVES = ("left", "right", "up", "down", "home", "end", "ctrl+left", "ctrl+right")
_SELECTING = ("shift+left", "shift+right", "shift+up", "shift+down", "shift+home", "shift+end")
_COPYING = ("ctrl+x", "ctrl+v")
_LINES = ("", "one", "two three", "a long line " * 20, "\t界")
_SIZES = ((80, 24), (40, 12), (120, 35), (20, 6), (200, 15))
_HISTORY = ("What is a late fee?", "one\ntwo\n" * 5, "a " * 300)
_DEEDS = {"type": 60, "move": 30, "select": 30, "copy": 20, "paste": 10, "undo": 40, "redo": 20, "draw": 5, "resize": 1}
"""What is done, and how often. Drawing takes far longer than the rest."""
_LENGTH_MAX = 2_000
"""In characters. A longer text is sent, because it would take the time of many edits."""


class EditedBox:
    """The question box of an app, in which a person edits."""

    def __init__(self, chance: random.Random, trail: deque[str]) -> None:
        self.done: Counter[str] = Counter()
        self._chance = chance
        self._trail = trail
        self._app = make_app(options=make_options(examples=_HISTORY))
        self._box = self._app.main_screen.question_box
        self._seen = set[str]()
        """The texts since the last question was sent."""

    async def live(self, steps: int) -> None:
        """Do so many things."""
        async with self._app.run_test(size=(80, 24)) as pilot:
            await wait_until_started(pilot)
            self._hands = Hands(pilot)
            for _ in range(steps):
                self._seen.add(self._box.text)
                deed = self._chance.choices([*_DEEDS], [*_DEEDS.values()])[0]
                self.done[deed] += 1
                self._trail.append(deed)
                await getattr(self, f"_{deed}")()
                assert self._box.clamp_visitable(self._box.cursor_location) == self._box.cursor_location
                if len(self._box.text) > _LENGTH_MAX:
                    self._box.fill("")  # as sending does
                    self._seen.clear()

    async def _press(self, *keys: str) -> None:
        """Press one of some keys. Textual's queues would take most of the time, so the key goes where they lead."""
        key = self._chance.choice(keys)
        self._trail.append(f"  {key}")
        if len(key) == 1:
            await self._box._on_key(Key(_character_to_key(key), key))
        elif not await self._app._check_bindings(key, priority=True):
            await self._app._check_bindings(key)

    async def _type(self) -> None:
        await self._press(*_TYPED)

    async def _move(self) -> None:
        await self._press(*_MOVES)

    async def _select(self) -> None:
        await self._press(*_SELECTING)

    async def _copy(self) -> None:
        await self._press(*_COPYING)

    async def _paste(self) -> None:
        lines = self._chance.choices(_LINES, k=self._chance.randint(1, 12))
        await self._box._on_paste(Paste("\n".join(lines)))

    async def _undo(self) -> None:
        before = self._box.text
        await self._press("ctrl+z")
        after = self._box.text
        assert after in self._seen, f"undo made {after!r} of {before!r}"
        if after != before:
            await self._press("ctrl+y")
            assert self._box.text == before, f"redo made {self._box.text!r} of {after!r}, not {before!r}"
            await self._press("ctrl+z")
            assert self._box.text == after

    async def _redo(self) -> None:
        await self._press("ctrl+y")
        assert self._box.text in self._seen

    async def _draw(self) -> None:
        """Let the app draw the box, whose lines are as if they were all wrapped now."""
        await self._hands.rest()
        shown = self._box.wrapped_document
        wrapped_now = WrappedDocument(shown.document, shown._width, self._box.indent_width)
        assert shown._wrap_offsets == wrapped_now._wrap_offsets

    async def _resize(self) -> None:
        size = self._chance.choice(_SIZES)
        self._trail.append(f"  {size}")
        await self._hands.resize(*size)


def edit(steps: int, seed: int) -> Counter[str]:
    """Do so many things, and return how often each was done.

    Raises:
        AssertionError: Something was not as it must be; a note tells what was done before.
    """
    trail: deque[str] = deque(maxlen=60)
    box = EditedBox(random.Random(seed), trail)  # noqa: S311 - what was found can be found again
    try:
        asyncio.run(box.live(steps))
    except BaseException as error:
        error.add_note(f"seed {seed}, {box.done}:\n" + "\n".join(trail))
        raise
    return box.done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    sys.stdout.write(f"seed {given.seed}: {dict(edit(given.steps, given.seed))}\n")


if __name__ == "__main__":
    main()
