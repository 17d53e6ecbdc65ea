"""The two commands of the README, and what a machine without its needs is told."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.real_documents import PROJECT_DIR

_MAKE = shutil.which("make")


@pytest.mark.skipif(_MAKE is None, reason="There is no make here.")
def test_every_target_is_explained() -> None:
    help_text = subprocess.run([str(_MAKE)], cwd=PROJECT_DIR, capture_output=True, text=True, check=True).stdout
    phony = re.search(r"^\.PHONY: (.*)$", (PROJECT_DIR / "Makefile").read_text(), re.MULTILINE)
    assert phony
    explained = re.findall(r"^make ([a-z]+) +\S.{10,}$", help_text, re.MULTILINE)
    assert explained == phony.group(1).split()
    assert {"run", "test"} <= set(explained)


@pytest.mark.skipif(shutil.which("bash") is None, reason="There is no bash here.")
def test_the_checks_run_without_the_private_documents_and_say_so(tmp_path: Path) -> None:
    make = tmp_path / "make"
    make.write_text('#!/bin/sh\necho "make $* with data: ${ROAMTUI_DATA-none}"\n')
    for name in ("make", "tmux", "chromium"):  # the last two so that it installs nothing
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o755)
    environ = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    gone, here = tmp_path / "gone", tmp_path / "here"
    here.mkdir()

    def check(data: Path) -> tuple[str, str]:
        environ["ROAMTUI_DATA"] = str(data)
        command = [PROJECT_DIR / ".ci" / "run"]
        result = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
        return result.stdout, result.stderr

    assert check(gone) == (
        "make test with data: none\nmake embeddings with data: none\n",
        f"No real documents at {gone}: skipping the tests that need them. Set ROAMTUI_DATA to their folder.\n",
    )
    assert check(here) == (f"make test with data: {here}\nmake embeddings with data: {here}\n", "")
