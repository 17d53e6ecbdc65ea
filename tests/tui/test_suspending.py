"""Going into the background only where a shell brings the program back."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from roamtui.tui.screens import main
from tests.tui.driving import app_of, make_app, wait_until


@pytest.mark.skipif(os.name != "posix", reason="jobs are POSIX's")
def test_only_a_process_with_a_group_of_its_own_is_a_job() -> None:
    program = [sys.executable, "-c", "from roamtui.tui.base_app import is_job_of_shell; print(is_job_of_shell())"]

    def run(**how: object) -> str:
        return subprocess.run(program, capture_output=True, text=True, check=True, **how).stdout.strip()  # type: ignore[call-overload, no-any-return]

    assert run(process_group=0) == "True"
    assert run() == "False"
    assert run(start_new_session=True) == "False"


async def test_without_a_shell_the_key_says_so_and_nothing_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "is_job_of_shell", lambda: False)
    async with make_app().run_test(size=(120, 30)) as pilot:
        await pilot.press("escape", "ctrl+z")
        status_line = app_of(pilot).main.status_line
        await wait_until(pilot, lambda: "no shell" in status_line.status.message)
