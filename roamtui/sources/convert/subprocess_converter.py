"""Conversion in a process of its own, which a file can neither keep busy for ever nor let grow without end.

It gets the bytes of one file, may not use more than its share, writes what it made of them, and ends. It also keeps
the program's own threads free while a large book is read. What took long is kept on disk by the digest of the file, so
that it opens at once again; nothing depends on it: what is damaged or of another version is as good as absent.
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
"""What Python is told. -P keeps the working directory off the import path: it may be a stranger's folder."""
_SECONDS_MAX = 300
_REPORT_SECONDS = 0.1
_MEMORY_BYTES_MAX = 2_000_000_000
_CHARACTERS_MAX = 100_000_000
_EXTRA = 'pip install "roamtui[convert]"'
_KEPT_SECONDS_MIN = 0.2
"""What takes less is converted anew each time."""
_KEPT_BYTES_MAX = 200_000_000
"""Of all files together; the least recently used go first."""
_DIGEST_SIZE = 16
_VERSION = 9
"""Raised when a converter makes another text of the same file."""


def convert_cached(
    wanted: Format, data: bytes, name: str, *, kept_dir: Path | None = None, report: PageReport | None = None
) -> ConvertedText:
    """Return a file as Markdown: as it was kept in a folder, else by another process.

    Raises:
        SourceError: It cannot be converted.
    """
    if kept_dir is None:
        return convert_in_subprocess(wanted, data, name, report=report)
    digest = blake2b(data, digest_size=_DIGEST_SIZE, person=wanted.name.encode())
    digest.update(f"{__version__} {_VERSION}".encode())
    path = kept_dir / f"{digest.hexdigest()}.json"
    with contextlib.suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
        kept = msgspec.json.decode(path.read_bytes(), type=ConvertedText)
        os.utime(path)
        return kept
    started = time.perf_counter()
    converted = convert_in_subprocess(wanted, data, name, report=report)
    if time.perf_counter() - started >= _KEPT_SECONDS_MIN:
        with contextlib.suppress(OSError):
            make_private_folder(kept_dir)
            write_private_file(path, json.dumps(asdict(converted)).encode("utf-8"))
            _drop_least_used(kept_dir)
    return converted


def _drop_least_used(folder: Path) -> None:
    """Delete the texts that were not used for longest, until the others fit."""
    total = 0
    for path in sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True):
        total += path.stat().st_size
        if total > _KEPT_BYTES_MAX:
            path.unlink(missing_ok=True)


def convert_in_subprocess(
    wanted: Format, data: bytes, name: str, *, report: PageReport | None = None, seconds_max: float = _SECONDS_MAX
) -> ConvertedText:
    """Return a file as Markdown, converted in another process, which ends with this call however that ends.

    Raises:
        SourceError: It cannot be converted, took too long or too much memory, or the converters are not installed.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 - this program itself, no shell
            [sys.executable, *_COMMAND, wanted.name, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, ValueError) as error:
        raise SourceError(f"{name} cannot be converted: {error}. Free some memory and try again.") from None
    try:
        answer = json.loads(_read_answer(process, data, report, seconds_max))
    except TimeoutError:
        raise SourceError(f"{name} takes more than {seconds_max:g} seconds to convert. Divide it.") from None
    except ValueError:
        raise SourceError(
            f"{name} cannot be converted: it is damaged, or needs more memory than it may have. Convert it to text."
        ) from None
    finally:
        process.kill()
        process.wait()
    if "problem" in answer:
        raise SourceError(answer["problem"])
    return msgspec.convert(answer, ConvertedText)


def _read_answer(process: subprocess.Popen[bytes], data: bytes, report: PageReport | None, seconds_max: float) -> bytes:
    """Return what a process makes of a file, empty if it ended before; pass on how far it says that it is."""
    lines: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_write_file, args=(process, data), daemon=True).start()
    Thread(target=_read_lines, args=(process, lines), daemon=True).start()
    deadline = time.monotonic() + seconds_max
    done, count, text = 0, 0, ""
    line = answer = b""
    while True:
        if report is not None:
            report(done, count, text)
        text = ""
        if time.monotonic() > deadline:
            raise TimeoutError
        with contextlib.suppress(Empty):
            line = lines.get(timeout=min(_REPORT_SECONDS, seconds_max))
            if not line:
                return answer
            if line.startswith(b"["):
                done, count, text = json.loads(line)
            else:
                answer = line


def _write_file(process: subprocess.Popen[bytes], data: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError), process.stdin as stream:
        stream.write(data)


def _read_lines(process: subprocess.Popen[bytes], lines: SimpleQueue[bytes]) -> None:
    assert process.stdout is not None
    with process.stdout as stream:
        for line in stream:
            lines.put(line)
    lines.put(b"")


def main(arguments: Sequence[str]) -> None:
    """Convert what stands on standard input and write it, or one sentence on why not, as JSON on the last line.

    Each line before it is an array: how many pages of how many were read, and their text since the line before.
    """
    wanted, name = Format[arguments[0]], arguments[1]
    data = sys.stdin.buffer.read()
    output = sys.stdout
    told = 0.0
    untold: list[str] = []

    def report(done: int, count: int, text: str) -> None:
        nonlocal told
        untold.append(text)
        if time.monotonic() - told >= _REPORT_SECONDS:
            told = time.monotonic()
            output.write(f"{json.dumps([done, count, ''.join(untold)])}\n")
            output.flush()
            untold.clear()

    with contextlib.redirect_stdout(sys.stderr):
        answer = _convert(wanted, data, name, report)
    output.write(json.dumps(answer))


def _convert(wanted: Format, data: bytes, name: str, report: PageReport) -> dict[str, object]:
    try:
        _limit_resources()
        converted = get_converter(wanted, report)(data, name)
    except ImportError:
        problem = f"{name} is a {wanted.value} file. To open it, install the converters: `{_EXTRA}`."
    except RoamtuiError as error:
        problem = str(error)
    except (MemoryError, RecursionError):
        problem = f"{name} is too large or too deeply nested to convert. Convert it to text first."
    except Exception:  # noqa: BLE001 - a library that fails on a file must not show its traceback
        problem = f"{name} cannot be converted: it is damaged. Open it in its own program and save it anew."
    else:
        if len(converted.text) <= _CHARACTERS_MAX:
            return {**asdict(converted), "text": replace_surrogates(converted.text)}
        problem = f"{name} holds more than {_CHARACTERS_MAX:,} characters. Divide it."
    return {"problem": problem}


def _limit_resources() -> None:
    """Bound the memory and time of this process, and forbid it to write files, as far as the system can.

    Raises:
        ImportError: A part of the program is not installed.
    """
    if sys.platform != "linux":  # macOS takes a limit of memory and does not keep it, Windows has none
        import psutil  # noqa: PLC0415 - not installed on Linux

        Thread(target=_watch_memory, args=(psutil.Process(),), daemon=True).start()
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - Windows has none

        for kind, most in (
            (resource.RLIMIT_AS, _MEMORY_BYTES_MAX),
            (resource.RLIMIT_CPU, _SECONDS_MAX),
            (resource.RLIMIT_FSIZE, 0),
        ):
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(kind, (most, most))


def _watch_memory(process: Any) -> None:  # noqa: ANN401 - psutil is not installed on Linux
    """End this process once it uses too much memory; the program then says that it may have."""
    while process.memory_info().rss <= _MEMORY_BYTES_MAX:
        time.sleep(_REPORT_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
