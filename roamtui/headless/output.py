"""Output channels: JSON and results to stdout, progress and warnings to stderr, sanitised for terminals."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

from roamtui.document.plain import escape_json, sanitise_line, sanitise_text
from roamtui.errors import RoamtuiError, format_reason

_ROWS_PER_WRITE = 1_000
PROGRESS_LINES_MAX = 20
"""Maximum number of lines that report the progress of one job."""


class OutputError(RoamtuiError):
    """Standard output cannot be written, for instance because the disk is full."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"could not write the output: {format_reason(error)}. Send it elsewhere.")


def write_text(text: str) -> None:
    """Write text to stdout: sanitised on a terminal, otherwise exactly as it is, in UTF-8.

    Raises:
        OutputError: Writing failed.
        BrokenPipeError: The reader is gone.
    """
    if sys.stdout.isatty():
        _write(sanitise_text(text), "replace")
    else:
        _write(text, "surrogateescape")


def write_sanitised(text: str) -> None:
    """Write text to stdout immediately, always sanitised.

    Raises:
        OutputError: Writing failed.
        BrokenPipeError: The reader is gone.
    """
    _write(sanitise_text(text), "replace")


def write_styled(text: str) -> None:
    """Write text to a terminal as it is: `roamtui.headless.terminal` has sanitised it, and added styles.

    Raises:
        OutputError: Writing failed.
        BrokenPipeError: The reader is gone.
    """
    _write(text, "replace")


def _write(text: str, errors: str) -> None:
    buffer = getattr(sys.stdout, "buffer", None)
    try:
        if buffer is None:
            sys.stdout.write(text)
        else:
            sys.stdout.flush()
            try:
                data = text.encode("utf-8", errors)
            except UnicodeEncodeError:  # a lone surrogate, which a model may write
                data = text.encode("utf-8", "replace")
            buffer.write(data)
            buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error) from None


def write_json(value: object) -> None:
    """Write one JSON value and a line end to stdout, with control characters and lone surrogates escaped."""
    import json  # noqa: PLC0415 - the app writes none before its first screen

    write_text(escape_json(json.dumps(value, ensure_ascii=False, indent=2)) + "\n")


def write_json_with_rows(head: Mapping[str, object], name: str, rows: Iterable[object]) -> None:
    """Write one JSON object as `write_json` does: the fields of `head`, at least one, then `rows` as the field `name`.

    The rows are written while they are produced, so that a long array needs little memory.
    """
    import json  # noqa: PLC0415 - the app writes none before its first screen

    encode = json.JSONEncoder(ensure_ascii=False, indent=2).encode
    opening = encode({**head, name: []}).removesuffix("]\n}")
    lines = (encode(row).replace("\n", "\n    ") for row in rows)
    separator, closing = "\n    ", "]\n}\n"
    while batch := tuple(islice(lines, _ROWS_PER_WRITE)):
        write_text(escape_json(opening + separator + ",\n    ".join(batch)))
        opening, separator, closing = "", ",\n    ", "\n  ]\n}\n"
    write_text(escape_json(opening) + closing)


def write_notice(text: str) -> None:
    """Write one line of progress or a warning to stderr. If that fails, ignore it."""
    _write_quietly(sanitise_line(text) + "\n")


def _write_quietly(text: str) -> None:
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()


def warn(text: str) -> None:
    """Write a sentence about a limitation or a failure to stderr."""
    write_notice(f"roamtui: {text}")


def write_notices(notices: Iterable[str]) -> None:
    """Write a line for each notice to stderr."""
    for notice in notices:
        write_notice(notice)


class LiveLine:
    """One line on stderr that is overwritten as something progresses. Without a terminal, nothing is written."""

    def __init__(self) -> None:
        self._written = ""

    def show(self, text: str) -> None:
        """Replace the line."""
        line = sanitise_line(text)
        if line != self._written and sys.stderr.isatty():
            width = shutil.get_terminal_size().columns - 1
            _write_quietly(f"\r{line[:width].ljust(min(len(self._written), width))}")
            self._written = line

    def end(self) -> None:
        """Keep the line as it is, and begin the next one."""
        if self._written:
            _write_quietly("\n")
        self._written = ""


@contextmanager
def report_conversion(name: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a callback that shows the progress of a file's conversion in one line, if stderr is a terminal."""
    line = LiveLine()

    def report(done: int, count: int) -> None:
        line.show(f"Converting {sanitise_line(Path(name).name)}…" + (f" {done:,} of {count:,}" if count else ""))

    try:
        yield report
    finally:
        line.end()


class EmbeddingProgress:
    """Writes the progress of embedding, in at most `PROGRESS_LINES_MAX` lines per library."""

    def __init__(self) -> None:
        self._reported = 0
        self.is_muted = False
        """Set when the terminal is about to show something else. Then nothing more is written."""

    def __call__(self, done: int, count: int) -> None:
        """Record that `done` of `count` chunks are embedded."""
        if done <= self._reported:
            self._reported = 0
        if self.is_muted:
            return
        if done == count or (done - self._reported) * PROGRESS_LINES_MAX >= count:
            self._reported = done
            write_notice(f"embedded {done:,} of {count:,} chunks")


def open_closed_streams() -> None:
    """Open any closed standard stream on the null device.

    Otherwise the next opened file, such as the conversation database, would get a standard descriptor, and libraries
    would write warnings into it. Without stdin, input is empty; without stderr, notices are dropped. Without stdout,
    writing a result fails, so that it is not lost unnoticed.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_WRONLY if descriptor == 2 else os.O_RDONLY)  # takes the lowest free descriptor
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - open for the program's life
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as above
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as above
