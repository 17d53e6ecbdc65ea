"""The subprocess that converts a file from standard input, within limits of time and memory."""

import contextlib
import os
import sys
import time
from collections.abc import Sequence
from threading import Thread
from typing import Any

import msgspec
from msgspec import Struct

from roamtui.convert.converted import ConvertedText
from roamtui.convert.decode import replace_surrogates
from roamtui.convert.formats import FORMATS_BY_NAME, PDF
from roamtui.errors import RoamtuiError, SourceError

REPORT_SECONDS = 0.1
PROBLEM = 3
"""Exit status if the last line is a sentence about a problem instead of the result."""
OUT_OF_MEMORY = 4
"""Exit status if the conversion needs more memory than it may have."""
_CHARACTERS_MAX = 100_000_000
_MEMORY_BYTES_MAX = 2_000_000_000


class ConversionJob(Struct, frozen=True, kw_only=True):
    """A file for the subprocess to convert, and how."""

    format_name: str
    name: str
    """The name of the file."""
    options: dict[str, Any]
    """Further arguments of the converter."""
    seconds_max: int
    """Limit of the time, and of the CPU time, in seconds."""


def main(arguments: Sequence[str]) -> None:
    """Convert standard input, and write the result as JSON on the last line.

    The argument is the job, as JSON. Each line before the result has the arguments of a `ProgressCallback`,
    as a JSON array.
    """
    job = msgspec.json.decode(arguments[0], type=ConversionJob)
    data = sys.stdin.buffer.read()
    output = sys.stdout
    sys.stdout = sys.stderr  # what a library prints must not mix with the result
    status = 0
    try:
        _limit_resources(job.seconds_max)
        result = msgspec.json.encode(_convert(job, data))
    except MemoryError:
        sys.exit(OUT_OF_MEMORY)
    except RoamtuiError as error:
        result = str(error).encode()
        status = PROBLEM
    output.buffer.write(result)
    output.flush()
    sys.exit(status)


def _convert(job: ConversionJob, data: bytes) -> ConvertedText:
    def report(done: int, count: int) -> None:
        os.write(1, f"[{done}, {count}]\n".encode())

    source_format = FORMATS_BY_NAME[job.format_name]
    options = {**job.options, "on_progress": report} if source_format is PDF else job.options
    converted = source_format.convert(data, job.name, **options)
    if len(converted.text) > _CHARACTERS_MAX:
        raise SourceError(
            f"{job.name} contains more than {_CHARACTERS_MAX:,} characters. Split it into smaller files."
        )
    return msgspec.structs.replace(converted, text=replace_surrogates(converted.text))


def _limit_resources(seconds_max: int) -> None:
    """Limit memory and CPU time of this process, and forbid it to write files, if the system can."""
    if sys.platform != "linux":  # macOS accepts a memory limit but ignores it; Windows has no limits
        import psutil  # noqa: PLC0415 - not installed on Linux

        Thread(target=_watch_memory, args=(psutil.Process(),), daemon=True).start()
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - Windows has none

        limits = {
            resource.RLIMIT_AS: _MEMORY_BYTES_MAX,
            resource.RLIMIT_CPU: seconds_max,
            resource.RLIMIT_FSIZE: 0,
        }
        for kind, limit in limits.items():
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(kind, (limit, limit))


def _watch_memory(process: Any) -> None:  # noqa: ANN401 - psutil is not installed on Linux
    while process.memory_info().rss <= _MEMORY_BYTES_MAX:
        time.sleep(REPORT_SECONDS)
    os._exit(OUT_OF_MEMORY)


if __name__ == "__main__":
    main(sys.argv[1:])
