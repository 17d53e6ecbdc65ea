"""The two commands of the README, and what a machine without its needs is told."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.real_documents import PROJECT_DIR

_MAKE = shutil.which("make")
_TARGETS = ("test", "embeddings", ".venv-local-model/.made", "local-model")
_EVERYTHING = "".join(f"make {target} with data: {{data}}\n" for target in _TARGETS)
_TOOLS = ("tmux", "chromium", "tesseract")


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


class Checks:
    """The script of all checks on a machine that has only the programs named here, each of them a fake."""

    def __init__(self, folder: Path) -> None:
        self._programs = folder / "programs"
        self._programs.mkdir()
        for name in ("bash", "dirname"):
            (self._programs / name).symlink_to(str(shutil.which(name)))
        self.add("make", 'echo "make $* with data: ${ROAMTUI_DATA-none}"')

    def add(self, name: str, script: str = "") -> None:
        program = self._programs / name
        program.write_text(f"#!{self._programs}/bash\n{script}\n")
        program.chmod(0o755)

    def run(self, data: Path, *, ci: str | None = None) -> tuple[str, str]:
        """Run the script and return what it writes to standard output and standard error."""
        environ = {name: value for name, value in os.environ.items() if name != "CI"}
        environ |= {"PATH": str(self._programs), "ROAMTUI_DATA": str(data)}
        if ci is not None:
            environ["CI"] = ci
        command = [self._programs / "bash", PROJECT_DIR / ".ci" / "run"]
        result = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
        return result.stdout, result.stderr


@pytest.fixture
def checks(tmp_path: Path) -> Checks:
    if os.name == "nt" or shutil.which("bash") is None:
        pytest.skip("There is no bash here.")
    return Checks(tmp_path)


def test_the_checks_run_without_the_private_documents_and_say_so(checks: Checks, tmp_path: Path) -> None:
    for name in _TOOLS:
        checks.add(name)
    gone = tmp_path / "gone"
    here = tmp_path / "here"
    here.mkdir()
    assert checks.run(gone) == (
        _EVERYTHING.format(data="none"),
        f"No real documents at {gone}: skipping the tests that need them. Set ROAMTUI_DATA to their folder.\n",
    )
    assert checks.run(here) == (_EVERYTHING.format(data=here), "")


@pytest.mark.parametrize(
    ("ci", "can_install", "told"),
    [
        *((ci, True, "Not installed: {}. Skipping the tests that need it.\n") for ci in (None, "", "false")),
        ("true", True, ""),
        ("true", False, "Could not install {}: skipping the tests that need it.\n"),
    ],
)
def test_the_checks_run_and_install_missing_tools_only_where_all_checks_run(
    checks: Checks, tmp_path: Path, ci: str | None, told: str, *, can_install: bool
) -> None:
    asked = tmp_path / "asked"
    missing = "chromium tesseract-ocr"
    asked.touch()
    checks.add("tmux")
    checks.add("apt-get", f'echo "$*" >>"{asked}"; exit {int(not can_install)}')
    output, errors = checks.run(tmp_path, ci=ci)
    assert errors == told.format(missing)
    assert output.startswith("make test ")
    commands = asked.read_text().splitlines()
    assert bool(commands) is (ci == "true")
    assert any(command.endswith(missing) for command in commands) is (ci == "true" and can_install)
