"""Inputs and expected results that are files in `tests/cases`: texts, and tables of cases."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

_CASES = Path(__file__).parent / "cases"


def read_case(name: str) -> str:
    """Return a text by the name of its file."""
    return (_CASES / "texts" / name).read_text("utf-8")


def read_rows(file: str, table: str) -> list[Any]:
    """Return the cases of a table, for `parametrize`. Each is a row of arguments, some with a name."""
    rows = _read_tables(file)[table]
    if isinstance(rows, dict):
        return [pytest.param(*(row if isinstance(row, list) else [row]), id=name) for name, row in rows.items()]
    assert isinstance(rows, list)
    return rows


@cache
def _read_tables(file: str) -> dict[str, Any]:
    return tomllib.loads((_CASES / f"{file}.toml").read_text("utf-8"))
