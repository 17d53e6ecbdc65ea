"""The table of formats: a new format is one entry of it, and pages and requirements agree with it."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from roamtui.convert.formats import FORMATS
from tests.real_documents import PROJECT_DIR

_MODULE = """
from roamtui.convert.converted import ConvertedText

def convert_logbook(data, name):
    return ConvertedText(text="# " + data.decode().removeprefix("%LOG "))
"""
_ENTRY = """    Format(
        "ship's log", "logbook:convert_logbook", ".slog text/x-slog", start=rb"%LOG", package="slog", left_out="maps"
    ),
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Return a function that runs a command of a copy of roamtui, which has one format more."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(PROJECT_DIR / "roamtui", folder / "roamtui", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(PROJECT_DIR / "themes", folder / "themes")
    (folder / "roamtui" / "convert" / "logbook.py").write_text(_MODULE, "utf-8")
    table = folder / "roamtui" / "convert" / "formats.py"
    table.write_text(table.read_text("utf-8").replace("FORMATS = (\n", f"FORMATS = (\n{_ENTRY}", 1), "utf-8")
    environ = {
        "PYTHONPATH": str(folder),
        "HOME": str(folder),
        "COLUMNS": "400",
        "OLLAMA_API_BASE": "http://127.0.0.1:9",
    }

    def run_command(*arguments: str) -> str:
        command = [sys.executable, "-m", "roamtui", *arguments]
        done = subprocess.run(
            command, env=os.environ | environ, cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run_command


def test_a_new_format_is_known_by_its_name_and_its_first_bytes(run: Callable[..., str], tmp_path: Path) -> None:
    for name in ("first.slog", "second.txt"):
        (tmp_path / name).write_text(f"%LOG Voyage of {name}\n\nWest wind.", "utf-8")
        shown = run("outline", str(tmp_path / name))
        assert f"Voyage of {name}" in shown
        assert "converted from ship's log, without maps; line numbers" in shown
    (tmp_path / "second.txt").unlink()
    assert "Voyage of first.slog" in run("outline", str(tmp_path))


def test_help_and_doctor_name_a_new_format(run: Callable[..., str]) -> None:
    assert "a file (Markdown, text, ship's log, PDF, " in run("outline", "--help")
    assert "ship's log (missing), PDF, " in run("doctor")


def test_each_package_of_the_table_is_required() -> None:
    project = tomllib.loads((PROJECT_DIR / "pyproject.toml").read_text("utf-8"))["project"]
    required = {"": project["dependencies"], **project["optional-dependencies"]}
    for each in FORMATS:
        names = {re.split(r"[^\w-]", line)[0] for line in required[each.extra]}
        assert not each.package or each.package in names, each.name


def test_the_readme_names_each_format() -> None:
    readme = (PROJECT_DIR / "README.md").read_text("utf-8")
    words = {word for each in FORMATS for word in each.name.split() if word != "or"}
    named = re.findall(r"[\w-]+", readme)
    assert sorted(word for word in words if word not in named and f"{word}s" not in named) == []
