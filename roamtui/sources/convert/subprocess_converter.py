"""Convert a file in a subprocess with limits of time and memory, and cache slow conversions on disk.

The subprocess converts one file and ends. A hostile file can therefore neither hang nor fill the main process, and a
large book does not block its threads. A cached text is found by the file's digest, and ignored if it is damaged or of
another version.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

import msgspec

from roamtui import __version__
from roamtui.errors import RoamtuiError, SourceError
from roamtui.paths import make_private_folder, write_private_file
from roamtui.sources.convert.converted import ConvertedText, Format, PageReport
from roamtui.sources.convert.converters import get_converter
from roamtui.sources.convert.escaping import replace_surrogates

_COMMAND = ("-P", "-m", "roamtui.sources.convert.subprocess_converter")
"""Arguments for Python. -P keeps the working directory off the import path, because its files may not be trusted."""
_SECONDS_MAX = 300
_REPORT_SECONDS = 0.1
_MEMORY_BYTES_MAX = 2_000_000_000
_CHARACTERS_MAX = 100_000_000
_INSTALL_COMMAND = 'pip install "roamtui[convert]"'
_CACHED_SECONDS_MIN = 0.2
"""A faster conversion is repeated each time."""
_CACHE_BYTES_MAX = 200_000_000
"""Limit for the cache folder; the least recently used files are deleted first."""
_DIGEST_SIZE = 16
_VERSION = 15
"""Increment it when a converter's output changes."""


def convert_cached(
    source_format: Format, data: bytes, name: str, *, cache_dir: Path | None = None, report: PageReport | None = None
) -> ConvertedText:
    """Convert a file to Markdown in a subprocess, or load it from the cache folder `cache_dir`.

    Raises:
        SourceError: See `convert_in_subprocess`.
    """
    if cache_dir is None:
        return convert_in_subprocess(source_format, data, name, report=report)
    digest = blake2b(data, digest_size=_DIGEST_SIZE, person=source_format.name.encode())
    digest.update(f"{__version__} {_VERSION}".encode())
    path = cache_dir / f"{digest.hexdigest()}.json"
    with contextlib.suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
        cached = msgspec.json.decode(path.read_bytes(), type=ConvertedText)
        os.utime(path)  # marks it as used
        return cached
    started = time.perf_counter()
    converted = convert_in_subprocess(source_format, data, name, report=report)
    if time.perf_counter() - started >= _CACHED_SECONDS_MIN:
        with contextlib.suppress(OSError):
            make_private_folder(cache_dir)
            write_private_file(path, json.dumps(asdict(converted)).encode("utf-8"))
            total = 0
            for old in sorted(cache_dir.glob("*.json"), key=lambda file: file.stat().st_mtime, reverse=True):
                total += old.stat().st_size
                if total > _CACHE_BYTES_MAX:
                    old.unlink(missing_ok=True)
    return converted


def convert_in_subprocess(
    source_format: Format,
    data: bytes,
    name: str,
    *,
    report: PageReport | None = None,
    seconds_max: float = _SECONDS_MAX,
) -> ConvertedText:
    """Convert a file to Markdown in a subprocess, which is killed however this call ends.

    Raises:
        SourceError: The file cannot be converted, needs too much time or memory, or the converter is not installed.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 - this program itself, no shell
            [sys.executable, *_COMMAND, source_format.name, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, ValueError) as error:
        raise SourceError(f"Could not convert {name}: {error}. Free some memory and try again.") from None
    try:
        result = json.loads(_read_result(process, data, report, seconds_max))
    except TimeoutError:
        raise SourceError(f"{name} takes more than {seconds_max:g} seconds to convert. Split it.") from None
    except ValueError:
        raise SourceError(
            f"Could not convert {name}: it is damaged, or needs too much memory. Convert it to text first."
        ) from None
    finally:
        process.kill()
        process.wait()
    if "problem" in result:
        raise SourceError(result["problem"])
    return msgspec.convert(result, ConvertedText)


def _read_result(process: subprocess.Popen[bytes], data: bytes, report: PageReport | None, seconds_max: float) -> bytes:
    """Send a file to the subprocess, pass its progress reports on, and return its result: empty if it ended early."""
    lines: SimpleQueue[bytes] = SimpleQueue()

    def write_file() -> None:
        assert process.stdin is not None
        with contextlib.suppress(OSError), process.stdin as stream:
            stream.write(data)

    def read_lines() -> None:
        assert process.stdout is not None
        with process.stdout as stream:
            for line in stream:
                lines.put(line)
        lines.put(b"")

    # Threads, because both pipes may block: a large file fills the first before the second is read.
    Thread(target=write_file, daemon=True).start()
    Thread(target=read_lines, daemon=True).start()
    deadline = time.monotonic() + seconds_max
    done, count, text = 0, 0, ""
    line = result = b""
    while True:
        if report is not None:
            report(done, count, text)
        text = ""
        if time.monotonic() > deadline:
            raise TimeoutError
        with contextlib.suppress(Empty):
            line = lines.get(timeout=min(_REPORT_SECONDS, seconds_max))
            if not line:
                return result
            if line.startswith(b"["):
                done, count, text = json.loads(line)
            else:
                result = line


def main(arguments: Sequence[str]) -> None:
    """Convert standard input, and write the result or one sentence about the problem as JSON, on the last line.

    Each line before it is a progress report: a JSON array with the arguments of a `PageReport`.
    """
    source_format, name = Format[arguments[0]], arguments[1]
    data = sys.stdin.buffer.read()
    output = sys.stdout
    reported_at = 0.0
    unreported: list[str] = []

    def report(done: int, count: int, text: str) -> None:
        nonlocal reported_at
        unreported.append(text)
        if time.monotonic() - reported_at >= _REPORT_SECONDS:
            reported_at = time.monotonic()
            output.write(f"{json.dumps([done, count, ''.join(unreported)])}\n")
            output.flush()
            unreported.clear()

    result: dict[str, object] = {}
    try:
        with contextlib.redirect_stdout(sys.stderr):  # what a library prints must not mix with the result
            _limit_resources()
            converted = get_converter(source_format, report)(data, name)
    except ImportError:
        problem = f"{name} is a {source_format.value} file. To open it, install the converter: `{_INSTALL_COMMAND}`."
    except RoamtuiError as error:
        problem = str(error)
    except (MemoryError, RecursionError):
        problem = f"Could not convert {name}: too large or too deeply nested. Convert it to text first."
    except Exception:  # noqa: BLE001 - a library that fails on a file must not show its traceback
        problem = f"Could not convert {name}: it is damaged. Open it in its own program and save it again."
    else:
        problem = f"{name} contains more than {_CHARACTERS_MAX:,} characters. Split it."
        if len(converted.text) <= _CHARACTERS_MAX:
            result = {**asdict(converted), "text": replace_surrogates(converted.text)}
    output.write(json.dumps(result or {"problem": problem}))


def _limit_resources() -> None:
    """Limit the memory and CPU time of this process, and forbid it to write files, if the system supports it.

    Raises:
        ImportError: psutil is not installed.
    """
    if sys.platform != "linux":  # macOS accepts a memory limit but ignores it; Windows has no limits
        import psutil  # noqa: PLC0415 - not installed on Linux

        Thread(target=_watch_memory, args=(psutil.Process(),), daemon=True).start()
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - Windows has none

        for kind, limit in (
            (resource.RLIMIT_AS, _MEMORY_BYTES_MAX),
            (resource.RLIMIT_CPU, _SECONDS_MAX),
            (resource.RLIMIT_FSIZE, 0),
        ):
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(kind, (limit, limit))


def _watch_memory(process: Any) -> None:  # noqa: ANN401 - psutil is not installed on Linux
    """End this process when it uses too much memory. The main process then reports memory as a possible cause."""
    while process.memory_info().rss <= _MEMORY_BYTES_MAX:
        time.sleep(_REPORT_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
