"""Code that is not asynchronous asks models in a thread of their own, which ends with its owner."""

from __future__ import annotations

import asyncio
import threading

import pytest

from roamtui.models.search_help import BackgroundModels


def _threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "background models"]


async def _name_thread() -> str:
    await asyncio.sleep(0)
    return threading.current_thread().name


async def _fail() -> None:
    raise LookupError("what was looked for")


def test_a_coroutine_runs_in_the_other_thread() -> None:
    background = BackgroundModels()
    before = len(_threads())
    assert background.run(_name_thread()) == "background models"
    with pytest.raises(LookupError, match="looked for"):
        background.run(_fail())
    assert len(_threads()) == before + 1
    background.close()
    assert len(_threads()) == before
    assert background.run(_name_thread()) == "background models"
    background.close()
