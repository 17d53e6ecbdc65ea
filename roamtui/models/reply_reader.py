"""Separate thoughts and tool calls that a model writes as text from its answer, while the reply streams in.

Many servers that people run themselves pass on what a model writes, with the marks of its training:
``<think>`` around thoughts, and ``<tool_call>`` before calls. A mark counts only at the start of a line,
outside code, so that an answer may explain it. `parse_calls` finds calls at the end of the reply. A line that
may begin one is held back until then, so that nobody sees it.

The result depends only on the whole text, never on how it is cut into pieces.
"""

import re
import string
from collections.abc import Collection, Iterable
from enum import Enum, auto

from msgspec.structs import replace

from roamtui.markdown.fences import update_fence
from roamtui.models.base import (
    ARGUMENTS_LENGTH_MAX,
    CallUnreadable,
    ModelEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallReceived,
)
from roamtui.models.written_calls import CODE_BLOCK, has_citation, is_quoted, parse_calls

# Marks are in lower case. No mark begins with another one.
_THOUGHT_STARTS = (
    *("<think>", "<thinking>", "<thought>", "<reasoning>", "<seed:think>"),
    *("[think]", "◁think▷", "<|start_thinking|>", "<|channel>thought"),
)
_THOUGHT_ENDS = (
    *("</think>", "</thinking>", "</thought>", "</reasoning>", "</seed:think>"),
    *("[/think]", "◁/think▷", "<|end_thinking|>", "<channel|>"),
)
_CHANNEL_STARTS = ("<|channel|>", "<|start|>assistant<|channel|>")
_CHANNEL_ENDS = ("<|end|>", "<|return|>", "<|call|>")
_LINE_STARTS = (*_THOUGHT_STARTS, *_CHANNEL_STARTS)
_MARK_LENGTH_MAX = 30
_THOUGHTS_OVER = re.compile(
    rf"`?(?:{'|'.join(map(re.escape, (*_THOUGHT_ENDS, *_CHANNEL_ENDS)))}"
    r"|(?P<next><\|channel\|>|<\|start\|>))",
    re.IGNORECASE,
)
"""The end of thoughts, or the next channel. After a backtick, a mark is only mentioned."""
_NAMED_MARK = re.compile("|".join(map(re.escape, (*_THOUGHT_STARTS, *_THOUGHT_ENDS))), re.IGNORECASE)
_CHANNEL_HEADER = re.compile(
    r"[ \t]*(?P<name>[a-z]*)"
    r"(?:(?:[ \t]+to=(?P<tool>[\w.-]+))?[^\n<]*(?:<\|constrain\|>[^\n<]*)?<\|message\|>)?",
    re.IGNORECASE,
)
_AHEAD = 120
"""Number of characters that decide whether a channel or JSON begins."""
_BRACKETS = ("<", "{", "[", "`", "~")
"""The start of a line that may be a call, or a block of code with one."""
_CALL_MARK = r"\A(?:[`~]+.*\n)?\s*(?:[<\[]\W*(?:\w+:)?tool_call|<function|<\|python_tag)"
"""The mark of a call to any tool. An object without one is a call only with the name of a tool."""
_INDENTS = ("", " ", "  ", "   ")
"""More spaces make a line code in Markdown."""
_SPECIAL = re.compile(r"[\n<◁\[]")
"""Where a line or a mark may begin."""
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
"""Lower case for marks. `str.lower` may change the length of a text."""


class _Mode(Enum):
    ANSWER = auto()
    THOUGHTS = auto()
    CALL = auto()
    """Text that may be a call, up to the end of the reply."""


class _Decision(Enum):
    """What the start of the pending text is."""

    MARK = auto()
    """A mark, which was read."""
    TEXT = auto()
    """Plain text, which is still to be read."""
    OPEN = auto()
    """Not known before there is more text."""


class ReplyReader:
    """Reads one reply. `feed` and `finish` return the events that a text turns into."""

    def __init__(self, names: Collection[str]) -> None:
        """Read calls of the tools `names`. Without tools, no text is a call."""
        self._names = frozenset(names)
        self._mode = _Mode.ANSWER
        self._pending = ""
        """Text that is not decided yet."""
        self._is_end = False
        self._events: list[ModelEvent] = []
        self._answer = ""
        """The text so far that was taken for the answer."""
        self._line = ""
        """The current line of the answer."""
        self._fence = ""
        """The line that opened the current block of code; empty outside code."""
        self._is_in_channel = False
        self._thoughts = ""
        """The thoughts so far."""
        self._call_start = re.compile("|".join((_CALL_MARK, *map(re.escape, names))), re.IGNORECASE)

    def feed(self, text: str) -> list[ModelEvent]:
        """Add a piece of the reply."""
        self._pending += text
        return self._read()

    def add_thoughts(self, text: str) -> None:
        """Add a piece of the thoughts that a server sends apart from the text."""
        self._thoughts += text

    def finish(self, *, is_cut: bool = False) -> list[ModelEvent]:
        """Decide at the end of the reply what the remaining text is. A reply that is cut off has no calls."""
        self._is_end = True
        events = self._read()
        held = self._pending
        reply = self._answer + held
        if self._mode is _Mode.THOUGHTS or not reply.strip():  # some models call a tool in their thoughts
            reply = self._thoughts
        calls = () if is_cut else parse_calls(reply[-ARGUMENTS_LENGTH_MAX:], self._names)
        code = CODE_BLOCK.match(held)
        is_explained = code is not None and held[code.end() :].strip() != ""
        is_broken = bool(held) and not calls and not has_citation(reply) and not is_explained
        if calls and self._answer and not held and self._mode is _Mode.ANSWER:
            self._events.append(ThinkingDelta(self._answer, replaces_text=True))
        if calls:
            self._events += map(ToolCallReceived, calls)
        elif is_broken:
            self._events.append(CallUnreadable(held.strip()[:ARGUMENTS_LENGTH_MAX]))
        else:
            self._put(TextDelta(held))
        return [*events, *self._events]

    def _read(self) -> list[ModelEvent]:
        while self._pending and self._read_next():
            pass
        events = self._events
        self._events = []
        return events

    def _read_next(self) -> bool:
        """Read one piece of the pending text. Return false if more text is needed to decide."""
        if self._mode is _Mode.THOUGHTS:
            return self._read_thoughts()
        if self._mode is _Mode.CALL:
            return False
        decision = _Decision.TEXT
        if not self._fence:
            if self._line in _INDENTS:
                decision = self._read_line_start()
            if decision is _Decision.TEXT:
                decision = self._read_end_mark()
        if decision is _Decision.TEXT:
            self._read_plain()
        return decision is not _Decision.OPEN

    def _find_mark(self, marks: Iterable[str]) -> str | None:
        """Return the mark that begins the pending text, "" if there is none, None if more text is needed."""
        text = self._pending[:_MARK_LENGTH_MAX].translate(_LOWER)
        may_follow = not self._is_end and any(mark.startswith(text) for mark in marks)
        return next((mark for mark in marks if text.startswith(mark)), None if may_follow else "")

    def _read_line_start(self) -> _Decision:
        mark = self._find_mark(_LINE_STARTS)
        head = self._pending[:_AHEAD]
        is_decidable = self._is_end or len(head) == _AHEAD
        if mark is None:
            return _Decision.OPEN
        if mark in _THOUGHT_STARTS:
            return self._begin_thoughts(mark)
        if mark in _CHANNEL_STARTS:
            is_whole = is_decidable or "<|message|>" in head
            return self._read_channel(mark) if is_whole else _Decision.OPEN
        if not (self._names and head.startswith(_BRACKETS)):
            return _Decision.TEXT
        if not is_decidable:
            return _Decision.OPEN
        if self._call_start.search(head):
            self._mode = _Mode.CALL
        return _Decision.MARK if self._mode is _Mode.CALL else _Decision.TEXT

    def _begin_thoughts(self, mark: str) -> _Decision:
        rest, newline, _ = self._pending[len(mark) :].partition("\n")
        if self._answer.strip():  # within an answer, thoughts begin on a line of their own
            if rest.strip():
                return _Decision.TEXT
            if not newline and not self._is_end:
                return _Decision.OPEN
        self._pending = self._pending[len(mark) :]
        self._mode = _Mode.THOUGHTS
        return _Decision.MARK

    def _read_channel(self, mark: str) -> _Decision:
        """Read the head of a channel, such as ``<|channel|>commentary to=functions.expand_sections``."""
        header = _CHANNEL_HEADER.match(self._pending[:_AHEAD], len(mark))
        assert header is not None
        body = self._pending[header.end() :]
        self._is_in_channel = True
        if header["tool"] and self._names:
            self._pending = f"{header['tool']}{body}"
            self._mode = _Mode.CALL
            return _Decision.MARK
        self._pending = body
        if header["name"].lower() != "final":
            self._mode = _Mode.THOUGHTS
        return _Decision.MARK

    def _read_end_mark(self) -> _Decision:
        """Read the end of the final channel, or of thoughts whose start the server has left out."""
        mark = self._find_mark((*_THOUGHT_ENDS, *(_CHANNEL_ENDS if self._is_in_channel else ())))
        if not mark:
            return _Decision.TEXT if mark == "" else _Decision.OPEN
        after, newline, _ = self._pending[len(mark) :].partition("\n")
        if not (after.strip() or newline or self._is_end):
            return _Decision.OPEN
        if mark not in _CHANNEL_ENDS:
            stands_alone = not self._line.strip() or not after.strip()
            if is_quoted(self._line) or not stands_alone or _NAMED_MARK.search(self._answer):
                return _Decision.TEXT
            self._events.append(ThinkingDelta(self._answer, replaces_text=True))
            self._answer = ""
        self._pending = self._pending[len(mark) :]
        self._line = ""
        return _Decision.MARK

    def _read_plain(self) -> None:
        """Take the text up to the next place where a mark may begin as a part of the answer."""
        special = _SPECIAL.search(self._pending, 1)
        end = special.start() if special else len(self._pending)
        if self._pending[0] == "\n" or (self._pending[0] == " " and self._line in _INDENTS):
            end = 1  # a mark may follow
        text = self._pending[:end]
        self._pending = self._pending[end:]
        self._answer += text
        self._put(TextDelta(text))
        if text != "\n":
            self._line += text
            return
        self._fence = update_fence(self._fence, self._line)
        self._line = ""

    def _read_thoughts(self) -> bool:
        shown = 0
        for end_mark in _THOUGHTS_OVER.finditer(self._pending):
            shown = end_mark.end()
            if not end_mark[0].startswith("`"):
                self._take_thoughts(end_mark.start())
                self._pending = self._pending[0 if end_mark["next"] else len(end_mark[0]) :]
                self._mode = _Mode.ANSWER
                self._line = ""
                return True
        held = 0 if self._is_end else _MARK_LENGTH_MAX
        self._take_thoughts(max(shown, len(self._pending) - held))
        return False

    def _take_thoughts(self, length: int) -> None:
        text = self._pending[:length]
        self._pending = self._pending[length:]
        self._thoughts += text
        self._put(ThinkingDelta(text))

    def _put(self, event: TextDelta | ThinkingDelta) -> None:
        """Add an event, or its text to the text of the last event."""
        last = self._events[-1] if self._events else None
        if isinstance(last, TextDelta | ThinkingDelta) and type(last) is type(event):
            self._events[-1] = replace(last, text=last.text + event.text)
        elif event.text:
            self._events.append(event)
