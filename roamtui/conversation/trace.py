"""`Trace`: the log of whatever conversation goes on, once more in a file that a person named, without secrets."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from roamtui.conversation.log import Log, encode_entries, now
from roamtui.conversation.log_files import PRIVATE_FILE, explain
from roamtui.errors import UsageError

_START = b'{"event": "conversation_begun"'


class Trace:
    """A file to which what happens is appended along with the log."""

    def __init__(self, path: Path, redact: Callable[[Any], Any]) -> None:
        """Make the file where it is missing, for its owner alone; a trace that it holds is kept, and more comes after.

        Args:
            path: The file.
            redact: Returns a JSON value without secrets.

        Raises:
            UsageError: It cannot be written, or holds something else.
        """
        self._path = path
        self._redact = redact
        self._log: Log | None = None
        self._written = 0
        self.failure = ""
        """Why the file is not whole, a sentence; empty while all is well."""
        try:
            held = path.read_bytes() if path.is_file() else b""
            if held and not held.startswith(_START):
                raise UsageError(f"--trace would write into {path}, which is no trace. Name a new file.")
            self._append(b"\n" if held and not held.endswith(b"\n") else b"")
            if path.is_file():
                path.chmod(PRIVATE_FILE)
        except OSError as error:
            raise UsageError(f"--trace cannot write {path}: {explain(error)}. Name another file.") from None

    def write(self, log: Log) -> None:
        """Append what is new in a log, all of another one; where that fails the trace ends, and `failure` says so."""
        if log is not self._log:
            self._log, self._written = log, 0
        count = len(log.events)
        entries = encode_entries(log.events[self._written : count], now()).splitlines()
        if self.failure or not entries:
            return
        try:
            self._append("".join(f"{json.dumps(self._redact(json.loads(line)))}\n" for line in entries).encode("ascii"))
            self._written = count
        except OSError as error:
            self.failure = f"The trace {self._path} ends here: {explain(error)}."

    def _append(self, entries: bytes) -> None:
        file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
        try:
            while entries:
                entries = entries[os.write(file, entries) :]
        finally:
            os.close(file)
