"""`PasteParser`: distinguishes pasted from typed text, even if the pasted text has control characters.

Terminals put marks around a paste. Some, such as the one in the page of `roamtui serve`, leave control
characters in it, and Textual 8.2.8 obeys them: a mark inside the text ends the paste, and the rest counts as
typed. So a web page could put text on the clipboard that sends a question or quits the app.
"""

import codecs
import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from time import monotonic

from textual import events
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.message import Message
from typing_extensions import override

_PAUSE_SECONDS = 0.2
"""Nobody presses a key this soon after a paste. The parts of a long paste arrive with shorter pauses."""


def get_lenient_decoder(encoding: str) -> Callable[[], codecs.IncrementalDecoder]:
    """Return a decoder as `codecs.getincrementaldecoder` does, but one that decodes invalid bytes as �."""
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")


class PasteParser(XTermParser):
    """Parses input. Text counts as pasted from the first mark of a paste to a pause after its last mark."""

    _parts: list[str] | None = None
    """What has arrived since the mark at the start of a paste. None outside of a paste."""
    _pasted_at = -math.inf
    """When the last text of a paste was handled."""

    @override
    def feed(self, data: str) -> Iterator[Message]:
        if self._parts is None:
            typed, start, data = data.partition(BRACKETED_PASTE_START)
            if typed or not start:
                yield from self._feed_typed(typed)
            if not start:
                return
            self._parts = []
        self._parts.append(data)
        # the mark may be spread over several parts, each of one character or more
        if BRACKETED_PASTE_END not in "".join(self._parts[-len(BRACKETED_PASTE_END) :]):
            return
        text, _, rest = "".join(self._parts).rpartition(BRACKETED_PASTE_END)
        self._parts = None
        yield events.Paste(text)
        self._pasted_at = monotonic()
        if rest:
            yield from self.feed(rest)

    def _feed_typed(self, data: str) -> Iterator[Message]:
        """Parse text without marks around it. Right after a paste, such text still belongs to the paste."""
        if monotonic() > self._pasted_at + _PAUSE_SECONDS:
            yield from super().feed(data)
            return
        text = ""
        for message in super().feed(data):
            if isinstance(message, events.Key):
                text += message.character or ""
            else:
                yield message
        if text:
            yield events.Paste(text)
            self._pasted_at = monotonic()

    @override
    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        """Read alt with a digit as that key, not as the sign that a Mac types with it, such as ¢."""
        if len(sequence) == 2 and sequence[0] == "\x1b" and sequence[1].isdecimal():
            return (events.Key(f"alt+{sequence[1]}", None),)
        return super()._sequence_to_key_events(sequence, alt)
