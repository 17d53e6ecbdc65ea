"""`roamtui completion`: what the shells offer, asked of a real one."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from roamtui.cli_commands import COMMANDS
from tests.cli.conftest import RunCommand


@pytest.fixture
def script(run: RunCommand, request: pytest.FixtureRequest) -> Path:
    """The script for the shell that the test names, in a file."""
    shell = request.param
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path: Path = request.getfixturevalue("tmp_path") / f"completion.{shell}"
    path.write_text(run("completion", shell).out, "utf-8")
    return path


@pytest.mark.parametrize("script", ["bash"], indirect=True)
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("roamtui se", {"search", "serve"}),
        ("roamtui ", {*COMMANDS}),
        ("roamtui ask --js", {"--json"}),
        ("roamtui guide.md --pl", {"--plain"}),
        ("roamtui check --format ", {"text", "json", "github"}),
        ("roamtui guide.md --mode key", {"keyword"}),
        ("roamtui conversations s", {"show"}),
        ("roamtui completion z", {"zsh"}),
        ("roamtui ask guide", set()),  # then bash completes file names
        ("roamtui ask guide.md why --model ", set()),
    ],
)
def test_bash_offers_commands_flags_and_values(script: Path, line: str, offered: set[str]) -> None:
    words = [*line.rstrip().split(), *([""] if line.endswith(" ") else [])]
    lines = (
        f"source {shlex.quote(str(script))}",
        f"COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}; _roamtui",
        'printf "%s\\n" "${COMPREPLY[@]}"; complete -p roamtui >&2',
    )
    done = subprocess.run(
        [shutil.which("bash") or "", "-eu", "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    )
    assert {*done.stdout.split()} == offered
    assert done.stderr == "complete -o bashdefault -o default -F _roamtui roamtui\n"


@pytest.mark.parametrize("script", ["bash", "zsh", "fish"], indirect=True)
def test_the_script_is_valid(script: Path) -> None:
    subprocess.run([script.suffix[1:], "-n", str(script)], check=True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_flag_is_in_each_script(run: RunCommand, shell: str) -> None:
    text = run("completion", shell).out
    assert all(name in text for name in COMMANDS)
    for flag in ("no-network", "keep-open", "questions-out", "watch"):
        assert flag in text
