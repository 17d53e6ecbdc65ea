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
def test_a_check_without_its_documents_says_so(tmp_path: Path) -> None:
    environ = os.environ | {"ROAMTUI_DATA": str(tmp_path / "gone")}
    result = subprocess.run([PROJECT_DIR / ".ci" / "run"], env=environ, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr == f"There is no test data at {tmp_path / 'gone'}: set ROAMTUI_DATA to its folder.\n"


@pytest.mark.skipif(_MAKE is None, reason="There is no make here.")
def test_a_machine_without_a_fitting_python_is_told_what_to_install(tmp_path: Path) -> None:
    for name in ("awk", "sh", "make"):
        found = shutil.which(name)
        assert found
        (tmp_path / name).symlink_to(found)
    result = subprocess.run(
        [tmp_path / "make", "-f", PROJECT_DIR / "Makefile", ".venv/.made"],
        cwd=tmp_path,
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert "roamtui needs Python 3.11 or newer" in result.stderr
    assert not (tmp_path / ".venv").exists()
