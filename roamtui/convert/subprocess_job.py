"""Converts a file in a subprocess with limits of time and memory.

The subprocess (`child.py`) converts one file and ends. So a hostile file can neither hang the main process
nor use up its memory, and a large book does not block its threads.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

import msgspec

from roamtui.convert.child import OUT_OF_MEMORY, PROBLEM, REPORT_SECONDS, ConversionJob
from roamtui.convert.converted import ConvertedText, ProgressCallback
from roamtui.convert.decode import replace_surrogates
from roamtui.convert.formats import Format
from roamtui.errors import SourceError

_COMMAND = ("-P", "-m", "roamtui.convert.child")
"""Arguments for Python. -P keeps the untrusted working directory off the import path."""
_SECONDS_MAX = 300
_OCR_SECONDS_MAX = 3_600
"""OCR takes about two seconds for a page."""


def run_in_subprocess(
    source_format: Format,
    data: bytes,
    name: str,
    options: dict[str, Any],
    on_progress: ProgressCallback | None,
) -> ConvertedText:
    """Convert a file in a subprocess, and pass on its progress. `options` are those of the converter.

    At the end, the subprocess and all processes that it started are killed.

    Raises:
        SourceError: The conversion failed, needs too much time or memory, or needs a missing library.
    """
    seconds_max = _OCR_SECONDS_MAX if options.get("ocr_languages") else _SECONDS_MAX
    job = ConversionJob(
        format_name=source_format.name,
        name=replace_surrogates(name),  # a file's name need not be valid text
        options=options,
        seconds_max=seconds_max,
    )
    try:
        # The subprocess reads a file at its own pace; a pipe would have to be fed while progress is read.
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.seek(0)
            process = subprocess.Popen(  # noqa: S603 - this program itself, no shell
                [sys.executable, *_COMMAND, msgspec.json.encode(job).decode()],
                stdin=file,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                process_group=None if sys.platform == "win32" else 0,  # killed together with what it starts
            )
    except OSError as error:
        raise SourceError(
            f"Could not convert {name}: {error}. Free some memory or disk space, and try again."
        ) from None
    deadline = time.monotonic() + seconds_max
    output: bytes | None = None
    progress = (0, 0)
    with process:
        try:
            while output is None:
                if on_progress is not None:
                    on_progress(*progress)
                if time.monotonic() > deadline:
                    raise SourceError(
                        f"{name} takes more than {seconds_max} seconds to convert. "
                        "Split it into smaller files."
                    )
                try:
                    output, _ = process.communicate(timeout=REPORT_SECONDS)
                except subprocess.TimeoutExpired as running:
                    # Windows gives no output before the end.
                    lines = (running.output or b"").rpartition(b"\n")[0].splitlines()
                    progress = msgspec.json.decode(lines[-1]) if lines else progress
        finally:
            # Tesseract may continue after the subprocess has ended. Until `wait`, the id of the subprocess is
            # that of the group.
            if sys.platform != "win32":
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.kill()
    result = output.rpartition(b"\n")[2]
    if process.returncode == PROBLEM:
        raise SourceError(result.decode())
    if process.returncode == 0:
        return msgspec.json.decode(result, type=ConvertedText)
    reason = "it is damaged, locked or too large. Save it again in the program that made it."
    if process.returncode == OUT_OF_MEMORY:
        reason = "it needs more memory than roamtui allows. Split it into smaller files."
    raise SourceError(f"Could not convert {name}: {reason}")
