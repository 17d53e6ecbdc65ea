"""Runs commands in this process as if a person read their output in a terminal, and checks what reaches it."""

import io
import json
import os
import re
import sys
import unicodedata
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

from typing_extensions import override

from roamtui.cli import main

_ALLOWED = frozenset("\n\t")
_STYLE = re.compile(r"\x1b\[[\d;]+m")
"""A sequence that sets or ends a style."""
_PROGRESS = re.compile(r"\r[^\r\n]*\r")
"""A line that tells how far a slow step is, and that the next one overwrites."""
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class _Terminal(io.TextIOWrapper):
    """A stream that says that it is a terminal, and keeps what it gets."""

    def __init__(self) -> None:
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, encoding="utf-8", errors="replace", write_through=True)

    @override
    def isatty(self) -> bool:
        return True


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What a command wrote."""

    code: int
    out: str
    err: str


def run_in_terminal(*arguments: str, has_styles: bool = False) -> Shown:
    """Run a command, and check that nothing it wrote could move a cursor, hide text or frighten a person.

    Without styles no control sequence is allowed at all; with them those that only set a style are. On stderr, a line
    may return to its own start.
    """
    out, err = _Terminal(), _Terminal()
    stdin, sys.stdin = sys.stdin, io.StringIO()
    os.environ["NO_COLOR"] = "" if has_styles else "1"
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main(list(arguments))
    finally:
        sys.stdin = stdin
    shown = Shown(code=code, out=out.bytes.getvalue().decode("utf-8"), err=err.bytes.getvalue().decode("utf-8"))
    for written in (shown.out, _PROGRESS.sub("", shown.err)):
        text = _STYLE.sub("", written) if has_styles else written
        strange = {c for c in text if c not in _ALLOWED and (unicodedata.category(c) == "Cc" or c in _TURNS)}
        assert not strange, (arguments, strange)
    assert "Traceback" not in shown.err, shown.err
    assert "a defect in roamtui" not in shown.err, (arguments, shown.err)
    assert code in (0, 1), (arguments, code, shown.err)
    assert code == 0 or shown.err or shown.out, "a failure says why"
    return shown


def use_every_command(path: str, question: str) -> None:
    """Run every command that reads a document on one document."""
    outline = run_in_terminal("outline", path, "--json")
    ids: list[str] = []
    if outline.code == 0:
        ids = [section["id"] for section in json.loads(outline.out)["sections"]]
    assert run_in_terminal("outline", path).code == outline.code
    if ids:
        run_in_terminal("show", path, *{ids[0], ids[len(ids) // 2], ids[-1]})
    run_in_terminal("search", path, question)
    for command in (("search", path, question, "--json"), ("ask", path, question, "--json")):
        shown = run_in_terminal(*command)
        if shown.code == 0:
            assert json.loads(shown.out)
    run_in_terminal("ask", path, question)
    run_in_terminal("ask", path, question, has_styles=True)
    for line in run_in_terminal("ask", path, question, "--events").out.splitlines():
        assert json.loads(line)["event"]
