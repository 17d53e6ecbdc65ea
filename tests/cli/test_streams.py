"""Standard streams that are closed, full or abandoned, and words that are no Unicode, as shells and pipes give them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROAMTUI = (sys.executable, "-m", "roamtui")
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")


def run_in_shell(command: str, *arguments: str | bytes | Path, **environ: str) -> subprocess.CompletedProcess[bytes]:
    """Run a shell's command line in which `roamtui` is the program, and $1 and $2 are the arguments."""
    for name, words in {"roamtui": " ".join(ROAMTUI), "$1": '"$1"', "$2": '"$2"'}.items():
        command = command.replace(name, words)
    line: list[str | bytes] = ["sh", "-c", command, "sh", *map(os.fsencode, arguments)]
    return subprocess.run(line, capture_output=True, check=False, timeout=180, env={**os.environ, **environ})


@needs_full
@pytest.mark.parametrize(
    "command", ["roamtui --help", "roamtui --version", "roamtui show --help", "roamtui outline $1"]
)
def test_a_full_disk_is_told_in_a_sentence(garden: Path, command: str) -> None:
    result = run_in_shell(f"{command} > {FULL}", garden)
    assert result.returncode == 1
    assert result.stderr == b"roamtui: could not read or write: No space left on device.\n"


@pytest.mark.parametrize("where", ["2>&-", pytest.param(f"2> {FULL}", marks=needs_full)])
def test_notes_that_nobody_takes_cost_no_result(tmp_path: Path, where: str) -> None:
    path = tmp_path / "nul.md"
    path.write_bytes(b"# A\n\nHalf a word: \xff\n")
    result = run_in_shell(f"roamtui outline $1 --json {where}", path)
    assert result.returncode == 0
    assert json.loads(result.stdout)["title"] == "A"


def test_all_streams_closed_write_into_no_file(garden: Path) -> None:
    result = run_in_shell(
        "roamtui ask $1 'What is a late spade?' <&- >&- 2>&-; roamtui conversations --all --format json", garden
    )
    assert [saved["questions"] for saved in json.loads(result.stdout)] == [1]


def test_a_query_is_utf_8_whatever_the_locale_says(tmp_path: Path) -> None:
    path = tmp_path / "law.md"
    path.write_text(
        "# Gesetz\n\n## Fristen\n\nDie Verjährung beginnt im Januar.\n\n## Anderes\n\nSonstiges.\n", "utf-8"
    )
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    result = run_in_shell("roamtui search $1 $2 --json", path, "Verjährung", **plain)
    assert [hit["path"][-1] for hit in json.loads(result.stdout)["hits"]] == ["Fristen"]
