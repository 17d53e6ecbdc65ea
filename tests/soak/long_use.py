"""Long use: questions while the terminal and the document change and the disk fills up.

`python -m tests.soak.long_use [QUESTIONS]` prints what the process held on the way.
"""

import asyncio
import gc
import math
import os
import random
import sys
import threading
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.anomalies.faulty_disk import FaultyDisk
from tests.soak.fuzz import Life

_DEEDS = {"ask": 30, "cancel": 5, "go_on": 10, "press": 20, "resize": 5, "change": 5}
_KEYS = (*"jkaxpzulhgG.", "space", "enter", "escape", "f1", "f5", "tab", "pagedown")
_STEPS = 60
"""In each conversation; they take about half a minute, so there are some six sizes a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """What a process holds at one moment."""

    questions: int
    objects: int
    """Those that the garbage collector knows."""
    resident_kb: int
    tasks: int
    threads: int
    descriptors: int


def measure(questions: int) -> Holdings:
    """Return what this process holds now, after so many questions."""
    gc.collect()
    return Holdings(
        questions=questions,
        objects=len(gc.get_objects()),
        resident_kb=int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024,
        tasks=len(asyncio.all_tasks()),
        threads=threading.active_count(),
        descriptors=len(list(Path("/proc/self/fd").iterdir())),
    )


async def use(folder: Path, patch: pytest.MonkeyPatch, questions: int, steps: int = _STEPS) -> list[Holdings]:
    """Ask so many questions, `steps` things in each conversation, and return what was held after each of these."""
    chance = random.Random(1)  # noqa: S311 - a day that can be lived again
    trail: deque[str] = deque(maxlen=60)
    disk = FaultyDisk(patch, folder, names=("write", "fsync", "replace"))
    life = Life(folder, chance, trail, disk=disk, deeds=_DEEDS, keys=_KEYS)
    held = list[Holdings]()
    try:
        async with life.running():
            while life.done["ask"] < questions:
                disk.passes = 0
                disk.faults = math.inf if 0.45 < life.done["ask"] / questions < 0.55 else 0
                await life.live(steps)
                disk.faults = 0
                await life.start_conversation()
                held.append(measure(life.done["ask"]))
    except BaseException as error:
        error.add_note("\n".join(trail))
        raise
    return held


def main() -> None:
    """Use the app, and print what was held.

    Raises:
        AssertionError: Something was lost, or not as it must be; a note tells what was done before.
    """
    questions = int((*sys.argv[1:], "1000")[0])
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", name)
        for held in asyncio.run(use(Path(name), patch, questions)):
            sys.stdout.write(f"{held}\n")


if __name__ == "__main__":
    main()
