"""Imports the program once, then forks for each run that a line of JSON on standard input asks for.

A run may be killed with SIGKILL in the middle of its n-th write to a file of conversations.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import IO, Any

from roamtui.cli import main

_write = os.write


def serve(jobs: IO[str], results: IO[str]) -> None:
    """Fork for the job of each line, wait for it, and write its status."""
    for name in ("bootstrap", "headless.ask", "agent.offline", "search.keyword"):
        import_module(f"roamtui.{name}")
    for line in jobs:
        child = _fork(json.loads(line))
        results.write(f"{os.waitpid(child, 0)[1]}\n")
        results.flush()


def _fork(job: Mapping[str, Any]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        _live(job)
    finally:
        os._exit(99)


def _live(job: Mapping[str, Any]) -> None:
    """Be the program until the end."""
    _move(job["home"], job["out"], f"{job['out']}.err")
    if "kill_at_write" in job:
        _kill_at_change(job["kill_at_write"])
    if "umask" in job:
        os.umask(job["umask"])
    code = main(job["arguments"])
    sys.stdout.flush()
    os._exit(code)


def _move(home: str, out: str, errors: str) -> None:
    """Have files lie below a home, and what is written go into other files."""
    for name, folder in (("HOME", ""), ("XDG_DATA_HOME", "data"), ("XDG_CONFIG_HOME", "config")):
        os.environ[name] = f"{home}/{folder}"
    os.environ["XDG_CACHE_HOME"] = f"{home}/cache"
    for descriptor, name in ((1, out), (2, errors)):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), descriptor)


def _kill_at_change(left: int) -> None:
    """Kill this process in its n-th change of a file: when something is written, brought to disk, dated or named."""

    def is_time() -> bool:
        nonlocal left
        left -= 1
        return left <= 0

    def write_half(file: int, data: bytes) -> int:
        if is_time():
            _write(file, data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        return _write(file, data)

    def die_or_change(change: Callable[..., None], *given: Any, **named: Any) -> None:  # noqa: ANN401 - as it is called
        if is_time():
            os.kill(os.getpid(), signal.SIGKILL)
        change(*given, **named)

    os.write = write_half  # type: ignore[assignment]
    for name in ("fsync", "utime", "replace", "unlink"):
        setattr(os, name, partial(die_or_change, getattr(os, name)))


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
