"""A trace: what one run of the program asked and got, as lines of JSON in a file that can be replayed.

Each line has a `kind`, and `at`, a clock time in UTC:

- `start`: format and version, the document and its digest, the model, settings. A file may hold several runs.
- `question`: what a person asked, and what was open.
- `request`: what went to the model. Its `messages` come after the first `repeats` ones of the request before it.
- `model`: an event of the reply. `error` and `cancelled` say how a reply ended that is not whole.
- `agent`: an event of the agent. `abandoned` ends a question that has no answer.

Secrets of the environment are masked in all of them. A text that comes in pieces is written when it is whole; where it
holds a secret, which may be split over its pieces, it is one line.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import stat
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from roamtui.errors import ModelError, UsageError
from roamtui.models.base import Model, ModelEvent, ModelStopped, Request, find_note, start_model
from roamtui.models.secrets import Secrets
from roamtui.models.worker.jobs import count_shared, encode_event

RECORDED = "recorded:"
"""Before the file of a trace in the name of the model that says its replies again."""
FORMAT = 1
_START = b'{"kind": "start"'
_STREAMED = frozenset({"text", "thinking", "AnswerStreamed", "ThinkingStreamed"})
"""Events that are pieces of one text."""
_ENDED_TEXTS = {"agent": ("agent",), **dict.fromkeys(("model", "request", "error", "cancelled"), ("model",))}
"""Whose text is whole when a line of this kind comes; any other kind ends all."""
_OPENING = re.compile(r"<<<[g-z]{8}")
_CLOSING_END = ">>>"
_NONCE = re.compile(r"[g-z]{8}")
_MODE = 0o600


def make_clock() -> datetime:
    """Return the time now."""
    return datetime.now(UTC)


class TraceWriter:
    """Writes a trace line by line; each is in the file when `write` returns, but a text that may go on.

    Args:
        path: The file, made where it is missing; a trace that it holds is kept, and this run comes after it.
        environ: Where secrets are looked up.
        clock: Tells the time.

    Raises:
        UsageError: The file cannot be written, or holds something else.
    """

    def __init__(self, path: Path, environ: Mapping[str, str], clock: Callable[[], datetime] = make_clock) -> None:
        self._path = path
        self._environ = environ
        self._clock = clock
        self._texts: dict[str, list[dict[str, Any]]] = {}
        """Lines of the text that may go on, by their kind."""
        self._messages: list[object] = []
        self._requests = 0
        self.failure = ""
        """Why the file is not whole, a sentence; empty while all is well."""
        try:
            self._file = _open(path)
        except OSError as error:
            raise UsageError(f"--trace cannot write {path}: {error.strerror or error}. Name another file.") from None

    @property
    def _secrets(self) -> Secrets:
        """Those of now: a person may give another key while the program runs."""
        return Secrets.of(self._environ)

    def write(self, kind: str, fields: Mapping[str, object]) -> None:
        """Write a line with `fields`, any values of the program."""
        plain: dict[str, Any] = msgspec.to_builtins(fields, str_keys=True, enc_hook=repr)
        line = {"kind": kind, "at": self._clock().isoformat(timespec="milliseconds"), **plain}
        event = line.get("event")
        text = self._texts.get(kind)
        if event in _STREAMED and text and text[0]["event"] == event:
            text.append(line)
            return
        for ended in _ENDED_TEXTS.get(kind, tuple(self._texts)):
            self._end_text(ended)
        if event in _STREAMED:
            self._texts[kind] = [line]
        else:
            self._write_lines([line])

    def _end_text(self, kind: str) -> None:
        lines = self._texts.pop(kind, [])
        whole = "".join(line["data"]["text"] for line in lines)
        if self._secrets.redact(whole) != whole:
            lines = [{**lines[0], "data": {"text": whole}}]
        self._write_lines(lines)

    def _write_lines(self, lines: list[dict[str, Any]]) -> None:
        data = "".join(f"{json.dumps(line)}\n" for line in self._secrets.redact(lines)).encode("ascii")
        if self.failure or self._file < 0:
            return
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            self.failure = f"The trace {self._path} ends here: {error.strerror or error}."

    def write_request(self, request: Request, model: str, window_tokens: int | None) -> int:
        """Write what a model is asked, and return the request's number in this run, from 1."""
        self._requests += 1
        data = encode_request(request, self._secrets)
        messages = data.pop("messages")
        repeats = count_shared(self._messages, messages)
        self._messages = messages
        fields = {
            "number": self._requests,
            "model": model,
            "window_tokens": window_tokens,
            "digest": hash_request({**data, "messages": messages}),
            **data,
            "repeats": repeats,
            "messages": messages[repeats:],
        }
        self.write("request", fields)
        return self._requests

    def close(self) -> None:
        """Write what waits, and let go of the file."""
        for kind in tuple(self._texts):
            self._end_text(kind)
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def encode_request(request: Request, secrets: Secrets) -> dict[str, Any]:
    """Return a request as a trace holds it."""
    return secrets.redact(msgspec.to_builtins(request))


def normalise_request(data: Mapping[str, object]) -> str:
    """Return an encoded request, or a message of it, as a text in which the marks of all conversations are alike."""
    text = _OPENING.sub("<<<", json.dumps(data, sort_keys=True))
    *parts, last = text.split(_CLOSING_END)
    return _CLOSING_END.join([*(part[:-8] if _NONCE.fullmatch(part[-8:]) else part for part in parts), last])


def hash_request(data: Mapping[str, object]) -> str:
    """Return a digest of an encoded request, the same for all conversations that say the same."""
    return blake2b(normalise_request(data).encode("ascii"), digest_size=16).hexdigest()


def _open(path: Path) -> int:
    """Return a descriptor at the end of a file that its owner alone can read.

    Raises:
        UsageError: It holds something that is no trace.
        OSError: It cannot be written.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, _MODE)
    try:
        _prepare(file, path)
    except BaseException:
        os.close(file)
        raise
    return file


def _prepare(file: int, path: Path) -> None:
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        return
    if status.st_size and os.read(file, len(_START)) != _START:
        raise UsageError(f"--trace would write into {path}, which is no trace. Name a new file.")
    path.chmod(_MODE)
    if status.st_size:
        os.lseek(file, -1, os.SEEK_END)
        if os.read(file, 1) != b"\n":
            os.write(file, b"\n")


class TracedModel:
    """Passes everything on to a model, and writes it down."""

    def __init__(self, model: Model, writer: TraceWriter) -> None:
        self._model = model
        self._writer = writer

    @property
    def name(self) -> str:
        """The name under which a person chose the model."""
        return self._model.name

    @property
    def window_tokens(self) -> int | None:
        """Size of the model's context window, None where unknown."""
        return self._model.window_tokens

    @property
    def note(self) -> str:
        """What a person should know of the model."""
        return find_note(self._model)

    async def start(self) -> None:
        """Start the model."""
        await start_model(self._model)

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        """Yield the events of one reply; each is in the trace before.

        Raises:
            ModelError: The model could not answer.
        """
        number = self._writer.write_request(request, self.name, self.window_tokens)
        is_whole = False
        try:
            async with aclosing(self._model.stream(request)) as events:  # type: ignore[type-var]
                async for event in events:
                    is_whole = isinstance(event, ModelStopped)
                    self._writer.write("model", {"request": number, **encode_event(event)})
                    yield event
        except (GeneratorExit, asyncio.CancelledError):
            if not is_whole:
                self._writer.write("cancelled", {"request": number})
            raise
        except ModelError as error:
            fields = {"message": str(error), "retryable": error.retryable, "overflow": error.overflow}
            self._writer.write("error", {"request": number, **fields})
            raise
        except Exception as error:
            self._writer.write("error", {"request": number, "message": str(error), "defect": type(error).__name__})
            raise

    async def close(self) -> None:
        """Let go of what the model holds."""
        await self._model.close()
