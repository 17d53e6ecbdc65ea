"""Convert or draw a file in a subprocess with limits of time and memory, and cache conversions on disk.

The subprocess (`child.py`) works on one file and ends. A hostile file can therefore neither hang nor fill the
main process, and a large book does not block its threads. A text is cached by the digest of the file and the
version. A damaged cache file is ignored.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from hashlib import blake2b
from pathlib import Path

import msgspec

from roamtui import __version__
from roamtui.convert.child import (
    DRAW,
    OUT_OF_MEMORY,
    PROBLEM,
    REPORT_SECONDS,
    SCAN_SECONDS_MAX,
    SECONDS_MAX,
)
from roamtui.convert.converted import (
    DEFAULT_OPTIONS,
    ConversionOptions,
    ConvertedText,
    PageReport,
    has_tesseract,
)
from roamtui.convert.converters import Format
from roamtui.convert.drawing import Drawing, DrawingRequest
from roamtui.errors import SourceError
from roamtui.paths import make_private_folder, replace_file, trim_folder

_COMMAND = ("-P", "-m", "roamtui.convert.child")
"""Arguments for Python. -P keeps the untrusted working directory off the import path."""
_DRAWING_SECONDS_MAX = 30
_KILLED = -9
"""Exit status after SIGKILL, which Windows does not have."""
_CACHE_BYTES_MAX = 200_000_000
"""Limit for the cache folder."""
_OUTPUT_VERSION = 40
"""Increment this when the output of a converter changes."""


def convert_in_subprocess(
    source_format: Format,
    data: bytes,
    name: str,
    options: ConversionOptions = DEFAULT_OPTIONS,
    on_progress: PageReport | None = None,
) -> ConvertedText:
    """Convert a file to Markdown in a subprocess, or load it from the cache.

    If `options` ask for OCR, it runs on the scanned pages of a PDF, which may take an hour. The result of an
    earlier OCR is also used if they do not ask for it. When this call ends, it kills the subprocess and what
    that started.

    Raises:
        SourceError: The file cannot be converted, needs too much time or memory, or the converter is not
            installed.
    """
    is_scanned = options.reads_scans and source_format is Format.PDF and has_tesseract()
    languages = "+".join(options.ocr_languages) if is_scanned else ""
    path: Path | None = None
    if options.cache_dir is not None:
        digest = blake2b(data, digest_size=16, person=source_format.name.encode())
        digest.update(f"{__version__} {_OUTPUT_VERSION}".encode())
        stem = digest.hexdigest()
        path = options.cache_dir / f"{stem}.{languages.replace('/', '-')}.json"
        with_ocr = sorted(options.cache_dir.glob(f"{stem}.*.json"), reverse=True)
        for cached_path in [path] if languages else with_ocr:
            with contextlib.suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
                cached = msgspec.json.decode(cached_path.read_bytes(), type=ConvertedText)
                os.utime(cached_path)  # marks it as used
                return cached
    seconds_max = SCAN_SECONDS_MAX if languages else SECONDS_MAX
    result = _run_job((source_format.name, name, languages), data, on_progress, seconds_max)
    converted = msgspec.json.decode(result, type=ConvertedText)
    if path is not None:
        with contextlib.suppress(OSError):
            make_private_folder(path.parent)
            replace_file(path, msgspec.json.encode(converted), is_flushed=False)
            trim_folder(path.parent, _CACHE_BYTES_MAX)
    return converted


def draw_in_subprocess(
    request: DrawingRequest, data: bytes, name: str, *, on_progress: PageReport | None = None
) -> Drawing:
    """Draw a picture or a page of a PDF in a subprocess. If `on_progress` raises an error, it ends.

    Raises:
        SourceError: The file cannot be drawn, needs too much time or memory, or Pillow is not installed.
    """
    options = msgspec.json.encode(request).decode()
    result = _run_job((DRAW, name, options), data, on_progress, _DRAWING_SECONDS_MAX)
    return msgspec.json.decode(result, type=Drawing)


def _run_job(
    arguments: tuple[str, str, str], data: bytes, on_progress: PageReport | None, seconds_max: float
) -> bytes:
    """Run a job in a subprocess, pass on its progress, and return its result. Kill it in the end."""
    job, name, _ = arguments
    verb = "draw" if job == DRAW else "convert"
    try:
        # A pipe would have to be fed while progress is read; a file without a name is read as the subprocess
        # likes.
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.seek(0)
            process = subprocess.Popen(  # noqa: S603 - this program itself, no shell
                [sys.executable, *_COMMAND, *(argument.replace("\0", "") for argument in arguments)],
                stdin=file,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                process_group=None if sys.platform == "win32" else 0,  # killed together with what it starts
            )
    except OSError as error:
        raise SourceError(f"Could not {verb} {name}: {error}. Free some memory and try again.") from None
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
                        f"{name} takes more than {seconds_max:g} seconds to {verb}. "
                        "Split it into smaller files."
                    )
                try:
                    output, _ = process.communicate(timeout=min(REPORT_SECONDS, seconds_max))
                except subprocess.TimeoutExpired as running:
                    # on Windows, none until the end
                    lines = (running.output or b"").rpartition(b"\n")[0].splitlines()
                    progress = msgspec.json.decode(lines[-1]) if lines else progress
        finally:
            # Tesseract may continue after the subprocess has ended. The group's id is the subprocess's until
            # `wait`.
            if sys.platform != "win32":
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.kill()
    result = output.rpartition(b"\n")[2]
    if process.returncode == PROBLEM:
        raise SourceError(result.decode())
    if process.returncode == 0:
        return result
    reason = "it is damaged, locked or too large. Save it again in the program that made it."
    if process.returncode == OUT_OF_MEMORY:
        reason = "it needs more memory than roamtui allows. Split it into smaller files."
    elif process.returncode == _KILLED:
        reason = "the system ended this, probably to free memory. Close other programs and try again."
    raise SourceError(f"Could not {verb} {name}: {reason}")
