"""A long day at the running app: questions, faults, keys, sizes and reloads, one conversation after another.

`python -m tests.soak.day --steps 1200` prints what the process holds at each beginning of a conversation.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import random
import sys
import threading
from collections import deque
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.soak.fuzz import Life

_STEPS_PER_CONVERSATION = 40
_DEEDS = {"ask": 3, "cancel": 1, "press": 3, "resize": 1, "change": 1}
_KEYS = (*"jkaxpzulhgG.", "space", "enter", "escape", "f1", "f5", "tab", "pagedown")


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


async def live_day(folder: Path, steps: int) -> list[Holdings]:
    """Live a day of so many steps, and return what was held whenever a conversation began."""
    life = Life(folder, random.Random(1), deque(maxlen=60), deeds=_DEEDS, keys=_KEYS)  # noqa: S311 - a day again
    holdings = []
    async with life.running():
        for _ in range(0, steps, _STEPS_PER_CONVERSATION):
            await life.live(_STEPS_PER_CONVERSATION)
            await life.start_conversation()
            holdings.append(measure(life.done["ask"]))
    return holdings


def main() -> None:
    """Live a day, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1_200)
    with TemporaryDirectory() as folder:
        holdings = asyncio.run(live_day(Path(folder), parser.parse_args().steps))
    rows = [tuple(one.name for one in fields(Holdings)), *map(astuple, holdings)]
    sys.stdout.writelines("".join(f"{cell:>13}" for cell in row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
