"""Commands that roamtui prints can be pasted into the shell that started it."""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import roamtui
from roamtui.program import quote_word

_START = "import sys; from roamtui.cli import main; sys.exit(main())"


def run(started: str, folder: Path, *words: str, path: str = os.defpath) -> str:
    """Run the program as if a shell had started it as `started`, in `folder`."""
    script = f"import sys; sys.argv = {[started, *words]!r}; {_START}"
    environ = {**os.environ, "PATH": path, "PYTHONPATH": str(Path(roamtui.__file__).parent.parent)}
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    return result.stdout + result.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("bin", "my bin"):
        (tmp_path / name).mkdir()
        program = tmp_path / name / "roamtui"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    (tmp_path / "a.md").write_text("# A\n\nWords.\n")
    return tmp_path


@pytest.mark.parametrize("started", ["bin/roamtui", "./bin/roamtui", "my bin/roamtui"])
def test_a_printed_command_has_the_path_that_started_the_program(started: str, folder: Path) -> None:
    program = shlex.quote(started)
    assert f"\n  {program} show handbook.md" in run(started, folder, "show", "--help")
    assert f"(`{program} COMMAND --help` explains each)" in run(started, folder, "--help")
    assert f"`{program} outline`." in run(started, folder, "search", "a.md", "zebra", "--mode", "keyword")


def test_a_program_on_the_path_is_named_without_it(folder: Path) -> None:
    search = os.pathsep.join([str(folder / "bin"), os.defpath])
    found, other = (str(folder / name / "roamtui") for name in ("bin", "my bin"))
    assert "\n  roamtui show handbook.md" in run(found, folder, "show", "--help", path=search)
    assert f"\n  {shlex.quote(other)} show handbook.md" in run(other, folder, "show", "--help", path=search)


@pytest.mark.parametrize(
    ("path", "quoted"),
    [
        (r"C:\bin\roamtui", r"C:\bin\roamtui"),
        (r"C:\my bin\roamtui", r'"C:\my bin\roamtui"'),
        ("C:\\it's\\", '"C:\\it\'s\\\\"'),
    ],
)
def test_on_windows_a_path_is_quoted_for_cmd(path: str, quoted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.program.os", SimpleNamespace(name="nt"))
    assert quote_word(path) == quoted
