"""The two commands of the README, and what is told while they install."""

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
    explained = re.findall(r"^make ([a-z-]+) +\S.{10,}$", help_text, re.MULTILINE)
    assert explained == phony.group(1).split()
    assert {"run", "test"} <= set(explained)


_PIP = """#!/bin/sh
echo "$@" >> "{0}/asked"
echo "Collecting small"
echo "  Downloading small-1-py3-none-any.whl (9 kB)"
echo "  Downloading http://127.0.0.1/a-b/big_one-1-py3-none-any.whl (9.1 MB)"
echo "Using cached other-2.0-py3-none-any.whl (12.3 MB)"
case "$*" in *{1}*) exit 1;; esac
echo "Installing collected packages: small, big-one, other"
"""


@pytest.mark.skipif(_MAKE is None or os.name == "nt", reason="There is no make here.")
@pytest.mark.parametrize(("failing", "code", "count"), [("nothing", 0, 1), ("meaning", 0, 2), ("formats", 2, 2)])
def test_an_installation_names_its_steps(failing: str, code: int, count: int, tmp_path: Path) -> None:
    (tmp_path / ".made").touch()
    pip = tmp_path / "pip"
    pip.write_text(_PIP.format(tmp_path, failing))
    pip.chmod(0o755)
    command = [str(_MAKE), f"VENV={tmp_path}", f"PIP={pip}", f"{tmp_path}/.installed"]
    # Inside `make test` these would make it a make of another make, which names the folders that it enters.
    environ = {name: value for name, value in os.environ.items() if name not in ("MAKELEVEL", "MAKEFLAGS", "MFLAGS")}
    result = subprocess.run(command, cwd=PROJECT_DIR, env=environ, capture_output=True, text=True, check=False)
    assert result.returncode == code
    steps = re.sub(r"^ +\d+ s  ", "- ", result.stdout, flags=re.MULTILINE).splitlines()[1:]
    rest = ["- unpacking 3 packages, usually 15 to 60 s", "- done"] if code == 0 else []
    assert steps == ["- big_one: 9.1 MB", "- other: 12.3 MB"] * count + rest
    assert (tmp_path / ".installed").exists() is (code == 0)
    asked = (tmp_path / "asked").read_text().splitlines()
    assert [line.rpartition(" ")[2] for line in asked] == [".[formats,meaning]", ".[formats]"][:count]
