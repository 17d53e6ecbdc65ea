"""The table of formats: a new format is one entry of it, and pages and requirements agree with it."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from roamtui.convert.formats import FORMATS
from tests.real_documents import PROJECT_DIR

_MODULE = """
from roamtui.convert.converted import ConvertedText

def convert_logbook(data, name):
    return ConvertedText(text="# " + data.decode().removeprefix("%LOG "))
"""
_ENTRY = """    Format(
        "ship's log", "logbook:convert_logbook", ".slog text/x-slog", magic=rb"%LOG", package="slog", left_out="maps"
    ),
"""


def test_a_new_format_is_one_entry_and_one_module(tmp_path: Path) -> None:
    shutil.copytree(PROJECT_DIR / "roamtui", tmp_path / "roamtui")
    shutil.copytree(PROJECT_DIR / "themes", tmp_path / "themes")
    (tmp_path / "roamtui" / "convert" / "logbook.py").write_text(_MODULE, "utf-8")
    table = tmp_path / "roamtui" / "convert" / "formats.py"
    table.write_text(table.read_text("utf-8").replace("FORMATS = (\n", f"FORMATS = (\n{_ENTRY}", 1), "utf-8")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "first.slog").write_text("%LOG Voyage of one\n\nWest wind.", "utf-8")
    (tmp_path / "second.txt").write_text("%LOG Voyage of two\n\nWest wind.", "utf-8")
    own = {
        "PYTHONPATH": str(tmp_path),
        "HOME": str(tmp_path),
        "COLUMNS": "400",
        "OLLAMA_API_BASE": "http://127.0.0.1:9",
    }
    lines = ("outline second.txt", "outline logs", "outline --help", "doctor")
    command = [sys.executable, "-c", f"from roamtui.cli import main\nfor line in {lines}: main(line.split())"]
    shown = subprocess.check_output(command, env=os.environ | own, cwd=tmp_path, stderr=subprocess.STDOUT, text=True)
    for words in (
        "Voyage of two",
        "converted from ship's log, without maps; line numbers",
        "Voyage of one",
        "a file (Markdown, text, ship's log, PDF, ",
        "ship's log (missing), PDF, ",
    ):
        assert words in shown


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


def test_hidden_text_is_named_as_left_out_only_by_formats_that_leave_it_out() -> None:
    losing = {each.name for each in FORMATS if "hidden text" in each.left_out}
    assert losing == {"HTML", "EPUB", "DOCX", "ODT"}
