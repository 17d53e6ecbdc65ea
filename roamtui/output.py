"""Output: results to stdout, progress and warnings to stderr, exports to files; sanitised for terminals.

All functions that write to stdout raise `OSError` if that fails, or `BrokenPipeError` if the reader is gone.
"""

import errno
import os
import shutil
import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from roamtui.convert.converted import ProgressCallback, format_progress
from roamtui.errors import RoamtuiError, UsageError, format_reason
from roamtui.paths import replace_file
from roamtui.program import qualify_commands
from roamtui.sanitiser import format_json, sanitise_line, sanitise_text


def write_data(text: str) -> None:
    """Write text of a document, or for a program, to stdout. It is sanitised only for a terminal."""
    write_raw(sanitise_text(text) if sys.stdout.isatty() else text)


def check_output_path(path: Path, suffixes: Collection[str], sources: Iterable[str | Path] = ()) -> None:
    """Check before the work begins that a file can be written and is not a source.

    Its name must have one of the `suffixes`, which choose its format. Since a file is replaced by a new one,
    its folder must be writable. A path that is not a file, such as a pipe, is written directly.
    """
    if path.suffix.lower() not in suffixes:
        listed = " or ".join(", ".join(suffixes).rsplit(", ", 1))
        raise UsageError(f"The name of the file must end in {listed}.")
    if os.path.realpath(path) in map(os.path.realpath, sources):
        raise UsageError(f"{path} is one of the documents, and would be overwritten. Name another file.")
    missing = [folder for folder in path.parents if not os.path.lexists(folder)]
    if missing:
        raise RoamtuiError(f"There is no folder {missing[-1]}. Create it, or choose another.")
    problem = 0
    written = path if path.exists() and not path.is_file() else Path(os.path.realpath(path)).parent
    if not path.parent.is_dir():
        problem = errno.ENOTDIR
    elif path.is_dir():
        problem = errno.EISDIR
    elif not os.access(written, os.W_OK):
        problem = errno.EACCES
    if problem:
        raise RoamtuiError(f"Could not write {path}: {os.strerror(problem)}.")


def write_export(path: Path, text: str) -> None:
    """Write or replace a file that a person named. If that fails, the earlier version stays."""
    try:
        replace_file(path, text.encode("utf-8", "backslashreplace"), is_private=False)
    except (OSError, ValueError) as error:
        raise RoamtuiError(f"Could not write {path}: {format_reason(error)}.") from None


def write_display(text: str) -> None:
    """Write text for a person to stdout, always sanitised."""
    write_raw(sanitise_text(text))


def write_raw(text: str) -> None:
    """Write text to stdout immediately. It must be safe for a terminal if stdout is one."""
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    buffer.write(text.encode("utf-8", "replace"))
    buffer.flush()


def write_json(value: object) -> None:
    """Write one JSON value and a line end to stdout."""
    write_data(format_json(value, indent=2) + "\n")


def write_notice(*texts: str) -> None:
    """Write a line of progress or a warning for each text to stderr. If that fails, ignore it."""
    _write_quietly("".join(f"{sanitise_line(qualify_commands(text))}\n" for text in texts))


def confirm(question: str) -> bool:
    """Ask a question on stderr, and return whether the line that follows on stdin says yes."""
    write_notice(f"{question} [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def require_confirmation(question: str, refusal: str, *, assume_yes: bool) -> None:
    """Ask a question, unless `assume_yes`. Without a terminal, the answer is no.

    Raises:
        UsageError: The answer was not yes. The message begins with `refusal`.
    """
    if not assume_yes and not (sys.stdin.isatty() and confirm(question)):
        raise UsageError(f"{refusal}, as you did not confirm. Answer y, or add --yes.")


def confirm_replacing(path: Path) -> None:
    """Ask a person at a terminal whether a file that exists may be replaced. Raise `UsageError` if not."""
    if path.is_file() and sys.stdin.isatty() and not confirm(f"{path} exists. Replace it?"):
        raise UsageError(f"{path} was not replaced. Name another file after -o.")


def _write_quietly(text: str) -> None:
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()


def warn(text: str) -> None:
    """Write a sentence about a limitation or a failure to stderr."""
    write_notice(f"roamtui: {text}")


class ProgressLine:
    """Reports the progress of a job on stderr: in one changing line of a terminal, elsewhere only the end."""

    def __init__(self, form: str = "") -> None:
        """`form` is the format of a report, such as ``{:,} of {:,} sections``."""
        self._form = form
        self._shown = ""
        self.count = 0
        """Number of steps of the latest job."""
        self.is_muted = False
        """Whether to write nothing more. Set it before the terminal shows something else."""

    def __call__(self, done: int, count: int) -> None:
        """Report that `done` of `count` steps are done."""
        self.count = count
        text = self._form.format(done, count)
        self.show(text)
        if done == count and not sys.stderr.isatty() and not self.is_muted:
            write_notice(text)
        if done == count:
            self.end()

    def show(self, text: str) -> None:
        """Replace the line on a terminal."""
        line = sanitise_line(text)
        if line != self._shown and sys.stderr.isatty() and not self.is_muted:
            from roamtui.markdown.lines import chop  # noqa: PLC0415 - not for commands without progress

            fitting, *_ = chop(line, shutil.get_terminal_size().columns - 1)
            _write_quietly(f"\r\x1b[K{fitting}\r")
            self._shown = line

    def end(self) -> None:
        """Keep the line as it is, and begin the next one."""
        if self._shown:
            _write_quietly("\n")
        self._shown = ""


@contextmanager
def report_opening(source: str, *, is_url: bool) -> Iterator[ProgressCallback]:
    """Yield a callback that shows the progress of opening a source in one line, if stderr is a terminal."""
    progress = ProgressLine()
    title = f"Fetching {source}…" if is_url else f"Converting {Path(source).name}…"
    try:
        yield lambda done, count: progress.show(f"{title}{format_progress(done, count)}")
    finally:
        progress.show("")
