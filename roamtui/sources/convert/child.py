"""The subprocess that converts or draws one file from standard input, within limits of time and memory.

It imports little, because a person waits for its start each time that a picture is zoomed.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import asdict
from threading import Thread
from typing import IO, Any

from roamtui.errors import RoamtuiError, SourceError
from roamtui.sources.convert.converted import Format
from roamtui.sources.convert.converters import get_converter
from roamtui.sources.convert.drawing import DrawingRequest
from roamtui.sources.decode import replace_surrogates

DRAW = "DRAW"
"""Name of the job that draws a file. Any other job is the name of a format to convert from.

A job such as ``PDF:eng+deu`` runs OCR in these languages.
"""
SECONDS_MAX = 300
SCAN_SECONDS_MAX = 3_600
"""Time limit if OCR runs."""
REPORT_SECONDS = 0.1
_MEMORY_BYTES_MAX = 2_000_000_000
_DRAWING_MEMORY_BYTES_MAX = 700_000_000
_CHARACTERS_MAX = 100_000_000
_INSTALL_COMMAND = '`pip install "roamtui[formats]"`'
INSTALL_IMAGES = 'To see pictures here, install Pillow: `pip install "roamtui[images]"`.'


def main(arguments: Sequence[str]) -> None:
    """Run a job on standard input, and write the result or one sentence about the problem as JSON, on the last line.

    Each line before it is a progress report: a JSON array with the arguments of a `PageReport`.
    """
    job, name = arguments
    data = sys.stdin.buffer.read()
    output = sys.stdout
    verb = "draw" if job == DRAW else "convert"
    result: dict[str, object]
    try:
        with contextlib.redirect_stdout(sys.stderr):  # what a library prints must not mix with the result
            result = _draw(data, name) if job == DRAW else _convert(job, data, name, output)
    except RoamtuiError as error:
        result = {"problem": str(error)}
    except ImportError:
        result = {
            "problem": INSTALL_IMAGES if job == DRAW else f"To open {name}, install its reader: {_INSTALL_COMMAND}."
        }
    except (MemoryError, RecursionError):
        result = {"problem": f"Could not {verb} {name}: too large or too deeply nested. Open it in its own program."}
    except Exception:  # noqa: BLE001 - a library that fails on a file must not show its traceback
        result = {"problem": f"Could not {verb} {name}: it is damaged. Open it in its own program and save it again."}
    output.write(json.dumps(result))


def _convert(job: str, data: bytes, name: str, output: IO[str]) -> dict[str, object]:
    format_name, _, languages = job.partition(":")

    def report(done: int, count: int) -> None:
        output.write(f"{json.dumps([done, count])}\n")
        output.flush()

    _limit_resources(_MEMORY_BYTES_MAX, SCAN_SECONDS_MAX if languages else SECONDS_MAX)
    convert = get_converter(Format[format_name])
    is_pdf = format_name == Format.PDF.name
    options = {"report": report, "ocr_languages": languages.split("+") if languages else ()} if is_pdf else {}
    converted = convert(data, name, **options)
    if len(converted.text) > _CHARACTERS_MAX:
        raise SourceError(f"{name} contains more than {_CHARACTERS_MAX:,} characters. Split it.")
    return {**asdict(converted), "text": replace_surrogates(converted.text)}


def _draw(data: bytes, name: str) -> dict[str, object]:
    """Draw the file after the first line of `data`, which is the `DrawingRequest`."""
    head, _, file_data = data.partition(b"\n")
    request = DrawingRequest(**json.loads(head))
    _limit_resources(_DRAWING_MEMORY_BYTES_MAX, SECONDS_MAX)
    if request.page is not None:
        from roamtui.sources.convert.pdf.drawing import draw_page  # noqa: PLC0415 - each library is heavy

        drawing = draw_page(file_data, name, request)
    else:
        from roamtui.sources.convert.picture import draw_picture  # noqa: PLC0415

        drawing = draw_picture(file_data, name, request)
    return {**asdict(drawing), "data": b64encode(drawing.data).decode()}


def _limit_resources(memory_bytes_max: int, seconds_max: int) -> None:
    """Limit the memory and CPU time of this process, and forbid it to write files, if the system supports it.

    Raises:
        ImportError: psutil is not installed. On Linux, it is not needed.
    """
    if sys.platform != "linux":  # macOS accepts a memory limit but ignores it; Windows has no limits
        import psutil  # noqa: PLC0415 - not installed on Linux

        Thread(target=_watch_memory, args=(psutil.Process(), memory_bytes_max), daemon=True).start()
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - Windows has none

        for kind, limit in (
            (resource.RLIMIT_AS, memory_bytes_max),
            (resource.RLIMIT_CPU, seconds_max),
            (resource.RLIMIT_FSIZE, 0),
        ):
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(kind, (limit, limit))


def _watch_memory(process: Any, memory_bytes_max: int) -> None:  # noqa: ANN401 - psutil is not installed on Linux
    """End this process when it uses too much memory. The main process then reports memory as a possible cause."""
    import os  # noqa: PLC0415 - not needed on Linux

    while process.memory_info().rss <= memory_bytes_max:
        time.sleep(REPORT_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
