"""Masks keys in the replies of a provider, so that they reach no file and no screen."""

import json
import os
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from urllib.parse import unquote

from msgspec.structs import replace

from roamtui.conversation.messages import ToolCall
from roamtui.models.base import ModelEvent, TextDelta, ThinkingDelta, ToolCallReceived
from roamtui.sanitiser import MASK, mask_logins

_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?\d*(?:_|\Z)", re.IGNORECASE)
_SECRET_LENGTH_MIN = 8
"""Shorter values, such as ``true``, are hardly secrets, and masking them would remove ordinary words."""
_SECRET_SHAPES = re.compile(
    r"\b(?:(?:sk|pk|gsk|xai|hf)[-_]|AIza|AKIA)[\w*.+/=-]{8,}|(?<=Bearer )\S+|(?<=[?&]key=)[^&\s]+", re.ASCII
)
_LOGIN_OR_QUERY = re.compile(r"(?<=://)[^/]*@|[?#].*", re.DOTALL)
_KEY_LENGTH_MIN = 16
"""In a reply, shorter values may be words: a person's own server often takes any key, such as ``ollama``."""


def redact_secrets(text: str, environ: Mapping[str, str]) -> str:
    """Mask the secrets of an environment, and what looks like a key or a login, in an error message."""
    secrets = _list_secrets(environ, _SECRET_LENGTH_MIN)
    if secrets:
        text = re.sub("|".join(map(_match_escaped, secrets)), MASK, text)
    return _SECRET_SHAPES.sub(MASK, mask_logins(text))


def _match_escaped(secret: str) -> str:
    """Return a pattern for a secret of which JSON or a URL may have escaped any character."""
    codes = [(sign, sign.encode("utf-8", "surrogatepass").hex("%")) for sign in secret]
    return "".join(
        rf"(?i:\\{{0,4}}{re.escape(sign)}|%{code}|\\{{1,4}}u{ord(sign):04x})" for sign, code in codes
    )


def strip_keys(url: str, environ: Mapping[str, str]) -> str:
    """Return the URL of a server without its login and query, with the keys of an environment masked."""
    bare = _LOGIN_OR_QUERY.sub("", url)
    for key in list_keys(environ):
        bare = bare.replace(key, MASK)
    return bare


def list_keys(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the keys that a reply must not contain, longest first."""
    secrets = _list_secrets(environ, _KEY_LENGTH_MIN)
    # A variable such as GOOGLE_APPLICATION_CREDENTIALS holds a path, which a document may contain too.
    # `os.path` raises nothing, unlike `Path`.
    return tuple(each for each in secrets if not (os.path.isabs(each) and os.path.exists(each)))  # noqa: PTH110, PTH117


def _list_secrets(environ: Mapping[str, str], length_min: int) -> list[str]:
    """Return the values of variables that are named like secrets, and passwords in URLs, longest first."""
    values = {value.strip() for name, value in environ.items() if _SECRET_NAME.search(name)}
    for value in environ.values():
        password = value.partition("://")[2].rpartition("@")[0].partition(":")[2]
        values |= {password, unquote(password)}
    return sorted((value for value in values if len(value) >= length_min), key=len, reverse=True)


async def mask_keys(
    events: AsyncGenerator[ModelEvent, None], keys: Sequence[str]
) -> AsyncGenerator[ModelEvent, None]:
    """Yield the events of a reply with all keys masked. The end of a piece is held while it may begin a key.

    Text and thinking may alternate, but are joined separately later, so they are masked separately.
    """
    text = _StreamMask(keys)
    masks: dict[type[TextDelta | ThinkingDelta], _StreamMask] = {
        ThinkingDelta: _StreamMask(keys),
        TextDelta: text,
    }

    def release() -> list[ModelEvent]:
        return [kind(held) for kind, mask in masks.items() if (held := mask.release())]

    try:
        async for event in events:
            if isinstance(event, TextDelta | ThinkingDelta):
                if shown := masks[type(event)].feed(event.text):
                    yield type(event)(shown)
                continue
            for held in release():
                yield held
            if isinstance(event, ToolCallReceived):
                yield ToolCallReceived(text.mask_call(event.call))
            else:
                yield event
    except Exception:
        for held in release():
            yield held
        raise


class _StreamMask:
    """Masks keys in a text that arrives in pieces."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = keys
        self._pattern = re.compile("|".join(map(re.escape, keys)) or r"(?!)")
        self._held = ""
        """End of the text so far, which may be the start of a key."""

    def mask_call(self, call: ToolCall) -> ToolCall:
        """Mask the keys in a whole call."""
        arguments = self._mask(call.arguments)
        with suppress(ValueError, RecursionError):
            decoded = json.dumps(json.loads(arguments), ensure_ascii=False)
            if (masked := self._mask(decoded)) != decoded:  # JSON may escape any character of a key
                arguments = masked
        return replace(call, id=self._mask(call.id), name=self._mask(call.name), arguments=arguments)

    def feed(self, piece: str) -> str:
        """Add a piece, and return what can be shown."""
        text = self._mask(self._held + piece)
        starts = (key[:length] for key in self._keys for length in range(1, len(key)))
        self._held = max(filter(text.endswith, starts), key=len, default="")
        return text.removesuffix(self._held)

    def release(self) -> str:
        """Return the held text when no more text follows. A long start of a key is masked too."""
        held = self._held
        self._held = ""
        return MASK if len(held) >= _KEY_LENGTH_MIN else held

    def _mask(self, text: str) -> str:
        return self._pattern.sub(MASK, text)
