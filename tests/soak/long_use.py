"""Long use: a thousand questions while the clock jumps, the terminal is resized and the disk fills up, then 200 kills.

`python -m tests.soak.long_use [QUESTIONS] [KILLS]` takes most of an hour. It prints what the process held on the way.
"""

from __future__ import annotations

import asyncio
import math
import random
import sys
from collections import Counter, deque
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from typing_extensions import override

from tests.anomalies.faulty_disk import FaultyDisk
from tests.soak import kills
from tests.soak.day import Holdings, measure
from tests.soak.fuzz import Life

_DEEDS = {"ask": 30, "cancel": 2, "go_on": 10, "press": 10, "resize": 3, "change": 1}
_KEYS = (*"jkaxpzulhgG.", "space", "enter", "escape", "tab", "pagedown")
_STEPS = 60
"""In each conversation; they take about half a minute, so there are some six sizes a minute."""
_JUMP_HOURS = 6
_MOMENTS = (0, 0.1, 0.25, 0.5, 0.75, 1)


class _JumpingClock(datetime):
    jump = timedelta()

    @override
    @classmethod
    def now(cls, tz: tzinfo | None = UTC) -> datetime:  # type: ignore[override]
        return datetime.now(tz) + cls.jump


async def _use(life: Life, disk: FaultyDisk, chance: random.Random, questions: int, patch: pytest.MonkeyPatch) -> None:
    patch.setattr("roamtui.conversation.log.datetime", _JumpingClock)
    moments = deque(_MOMENTS)
    async with life.running():
        while life.done["ask"] < questions:
            share = life.done["ask"] / questions
            disk.passes, disk.faults = 0, math.inf if 0.45 < share < 0.55 else 0
            _JumpingClock.jump = timedelta(hours=chance.uniform(-_JUMP_HOURS, _JUMP_HOURS))
            await life.live(_STEPS)
            await life.start_conversation()
            if share >= moments[0]:
                moments.popleft()
                _tell(measure(life.done["ask"]), life.done)
    _tell(measure(life.done["ask"]), life.done)


def _tell(held: Holdings, done: Counter[str]) -> None:
    sys.stdout.write(f"{held} {dict(done)}\n")
    sys.stdout.flush()


def main() -> None:
    """Use the app, kill the program, and print what was held.

    Raises:
        AssertionError: Something was lost, or not as it must be; a note tells what was done before.
    """
    questions, runs = (int(number) for number in (*sys.argv[1:], "1000", "200")[:2])
    chance = random.Random(1)  # noqa: S311 - a day that can be lived again
    trail: deque[str] = deque(maxlen=60)
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        patch.setenv("HOME", name)
        disk = FaultyDisk(patch, folder, names=("write", "fsync", "replace"))
        try:
            asyncio.run(
                _use(Life(folder, chance, trail, disk=disk, deeds=_DEEDS, keys=_KEYS), disk, chance, questions, patch)
            )
        except BaseException as error:
            error.add_note("\n".join(trail))
            raise
    kills.kill(runs)


if __name__ == "__main__":
    main()
