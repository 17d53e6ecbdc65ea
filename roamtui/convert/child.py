"""The subprocess that converts a file from standard input, within limits of time and memory."""

import contextlib
import os
import sys
import time
from collections.abc import Sequence
from threading import Thread
from typing import Any

import msgspec

from roamtui.convert.converted import ConversionRequest, ConvertedText
from roamtui.convert.decode import replace_surrogates
from roamtui.convert.formats import FORMATS_BY_NAME, HTML, PDF
from roamtui.errors import RoamtuiError, SourceError

REPORT_SECONDS = 0.1
PROBLEM = 3
"""Exit status if the last line is a sentence about a problem instead of the result."""
OUT_OF_MEMORY = 4
"""Exit status if the conversion needs more memory than it may have."""
_CHARACTERS_MAX = 100_000_000


def main(arguments: Sequence[str]) -> None:
    """Convert standard input, and write the result as JSON on the last line.

    The arguments are the request, as JSON, and the name of the file. Each line before the result has the
    arguments of a `PageReport`, as a JSON array.
    """
    encoded_request, name = map(replace_surrogates, arguments)  # a file's name need not be valid text
    request = msgspec.json.decode(encoded_request, type=ConversionRequest)
    data = sys.stdin.buffer.read()
    output = sys.stdout
    sys.stdout = sys.stderr  # what a library prints must not mix with the result
    status = 0
    try:
        _limit_resources(request)
        result = msgspec.json.encode(_convert(request, data, name))
    except MemoryError:
        sys.exit(OUT_OF_MEMORY)
    except RoamtuiError as error:
        result = str(error).encode()
        status = PROBLEM
    except ImportError:
        result = f'To open {name}, install its reader: `pip install "roamtui[formats]"`.'.encode()
        status = PROBLEM
    output.buffer.write(result)
    output.flush()
    sys.exit(status)


def _convert(request: ConversionRequest, data: bytes, name: str) -> ConvertedText:
    def report(done: int, count: int) -> None:
        os.write(1, f"[{done}, {count}]\n".encode())

    source_format = FORMATS_BY_NAME[request.format_name]
    options: dict[str, Any] = {}
    if source_format is PDF:
        options = {"on_progress": report, "ocr_languages": request.ocr_languages}
    elif source_format is HTML:
        options = {"charset": request.charset, "base_url": request.base_url}
    converted = source_format.load_converter()(data, name, **options)
    if len(converted.text) > _CHARACTERS_MAX:
        raise SourceError(
            f"{name} contains more than {_CHARACTERS_MAX:,} characters. Split it into smaller files."
        )
    return msgspec.structs.replace(converted, text=replace_surrogates(converted.text))


def _limit_resources(request: ConversionRequest) -> None:
    """Limit memory and CPU time of this process, and forbid it to write files, if the system can."""
    if sys.platform != "linux":  # macOS accepts a memory limit but ignores it; Windows has no limits
        import psutil  # noqa: PLC0415 - not installed on Linux

        Thread(target=_watch_memory, args=(psutil.Process(), request.memory_bytes_max), daemon=True).start()
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - Windows has none

        limits = {
            resource.RLIMIT_AS: request.memory_bytes_max,
            resource.RLIMIT_CPU: request.seconds_max,
            resource.RLIMIT_FSIZE: 0,
        }
        for kind, limit in limits.items():
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(kind, (limit, limit))


def _watch_memory(process: Any, memory_bytes_max: int) -> None:  # noqa: ANN401 - psutil is not installed on Linux
    while process.memory_info().rss <= memory_bytes_max:
        time.sleep(REPORT_SECONDS)
    os._exit(OUT_OF_MEMORY)


if __name__ == "__main__":
    main(sys.argv[1:])
