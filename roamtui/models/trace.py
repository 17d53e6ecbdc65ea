"""A trace: what one run of the program asked and got, as lines of JSON in a file that can be replayed.

Each line has a `kind`, and `at`, a clock time in UTC:

- `start`: format and version, the document and its digest, the model, settings. A file may hold several runs.
- `question`: what a person asked, and what was open.
- `request`: what went to the model. Its `messages` come after the first `repeats` ones of the request before it.
- `model`: an event of the reply. `error` and `cancelled` say how a reply ended that is not whole.
- `agent`: an event of the agent. `abandoned` ends a question that has no answer.

Secrets of the environment are masked in all of them.
"""

from __future__ import annotations

import json
import os
import re
import stat
from datetime import UTC, datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from roamtui.conversation.plain_values import encode_value
from roamtui.errors import UsageError
from roamtui.models.redacting import Secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from roamtui.models.base import Request

RECORDED = "recorded:"
"""Before the file of a trace in the name of the model that says its replies again."""
FORMAT = 1
_START = b'{"kind": "start"'
_STREAMED = frozenset({"text", "thinking", "AnswerStreamed", "ThinkingStreamed"})
"""Events that are pieces of one text: a secret may be split over them."""
_ENDED_TEXTS = {"agent": "agent", "model": "model", "request": "model", "error": "model", "cancelled": "model"}
"""Whose texts are whole when a line of this kind comes that is no piece of one; any other kind ends all."""
_OPENING = re.compile(r"<<<[0-9a-f]{8}")
_CLOSING_END = ">>>"
_NONCE = re.compile(r"[0-9a-f]{8}")
_MODE = 0o600


def make_clock() -> datetime:
    """Return the time now."""
    return datetime.now(UTC)


class TraceWriter:
    """Writes a trace line by line; each is in the file when `write` returns, unless it may hold half a secret.

    Args:
        path: The file, made where it is missing; a trace that it holds is kept, and this run comes after it.
        environ: Where secrets are looked up.
        clock: Tells the time.

    Raises:
        UsageError: The file cannot be written, or holds something else.
    """

    def __init__(self, path: Path, environ: Mapping[str, str], clock: Callable[[], datetime] = make_clock) -> None:
        self._path = path
        self._secrets = Secrets.of(environ)
        self._clock = clock
        self._waiting: list[dict[str, Any]] = []
        self._texts: dict[tuple[str, str], list[dict[str, Any]]] = {}
        """Lines of each text whose end may be the beginning of a secret."""
        self._messages: list[object] = []
        self._requests = 0
        self.failure = ""
        """Why the file is not whole, a sentence; empty while all is well."""
        try:
            self._file = _open(path)
        except OSError as error:
            raise UsageError(f"--trace cannot write {path}: {error.strerror or error}. Name another file.") from None

    def write(self, kind: str, fields: Mapping[str, object]) -> None:
        """Write a line with `fields`, any values of the program."""
        line: dict[str, Any] = {"kind": kind, "at": self._clock().isoformat(timespec="milliseconds")}
        line |= {name: encode_value(value) for name, value in fields.items()}
        self._waiting.append(line)
        event = line.get("event")
        if event in _STREAMED:
            self._texts.setdefault((kind, event), []).append(line)
        else:
            line |= {name: self._secrets.redact(value) for name, value in line.items()}
            ended = _ENDED_TEXTS.get(kind)
            self._texts = {key: lines for key, lines in self._texts.items() if ended and key[0] != ended}
        self._redact_texts()
        if not any(self._texts.values()):
            self._flush()

    def write_request(self, request: Request, model: str, window_tokens: int | None) -> int:
        """Write what a model is asked, and return the request's number in this run, from 1."""
        self._requests += 1
        data = encode_request(request, self._secrets)
        messages = data.pop("messages")
        repeats = _count_shared(self._messages, messages)
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
        self._flush()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _redact_texts(self) -> None:
        """Mask secrets in the pieces of each text, and forget those in which none can begin any more."""
        for key, lines in self._texts.items():
            pieces = self._secrets.redact_pieces(tuple(line["data"]["text"] for line in lines))
            for line, piece in zip(lines, pieces, strict=True):
                line["data"]["text"] = piece
            is_open = self._secrets.count_open("".join(pieces))
            first = len(pieces)
            while is_open > 0:
                first -= 1
                is_open -= len(pieces[first])
            self._texts[key] = lines[first:]

    def _describe(self, value: object) -> object:
        """Return what stands for a value that JSON does not know."""
        return self._secrets.redact(repr(value))

    def _flush(self) -> None:
        lines, self._waiting, self._texts = self._waiting, [], {}
        data = "".join(f"{json.dumps(line, default=self._describe)}\n" for line in lines).encode("ascii")
        if self.failure or self._file < 0:
            return
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            self.failure = f"The trace {self._path} ends here: {error.strerror or error}."


def encode_request(request: Request, secrets: Secrets) -> dict[str, Any]:
    """Return a request as a trace holds it."""
    data = secrets.redact(encode_value(request))
    assert isinstance(data, dict)
    return data


def normalise_request(data: Mapping[str, object]) -> str:
    """Return an encoded request, or a message of it, as a text in which the marks of all conversations are alike."""
    text = _OPENING.sub("<<<", json.dumps(data, sort_keys=True))
    *parts, last = text.split(_CLOSING_END)
    return _CLOSING_END.join([*(part[:-8] if _NONCE.fullmatch(part[-8:]) else part for part in parts), last])


def hash_request(data: Mapping[str, object]) -> str:
    """Return a digest of an encoded request, the same for all conversations that say the same."""
    return blake2b(normalise_request(data).encode("ascii"), digest_size=16).hexdigest()


def _count_shared(before: list[object], now: list[object]) -> int:
    pairs = zip(before, now, strict=False)
    return next((index for index, (old, new) in enumerate(pairs) if old != new), min(len(before), len(now)))


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
