"""Runs the command line in this process, and gives it a small document."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from roamtui.cli import main, make_parser
from roamtui.paths import get_config_path
from tests.case_files import read_case

GARDEN = read_case("garden.md")


def write_settings(text: str) -> None:
    get_config_path().parent.mkdir(parents=True, exist_ok=True)
    get_config_path().write_text(text, "utf-8")


def list_flags(name: str) -> frozenset[str]:
    """Return the flags of a command, or with an empty name, of the app."""
    usage = make_parser(name).format_usage()
    return frozenset(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", usage)) | {"--help"}


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one run of the program gave."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - whatever the program wrote
        return json.loads(self.out)


RunCommand = Callable[..., Run]


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    path = tmp_path / "garden.md"
    path.write_text(GARDEN, "utf-8")
    return path


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> RunCommand:
    """Return a function that runs `roamtui` with arguments."""

    def run_command(*arguments: str | Path) -> Run:
        capfdbinary.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return Run(code=code, out=out.decode("utf-8"), err=err.decode("utf-8"))

    return run_command
