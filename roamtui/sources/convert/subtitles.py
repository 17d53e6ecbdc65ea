"""Convert subtitles (SRT or WebVTT) to Markdown: a section for every few minutes, and paragraphs with their times."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.convert.escaping import escape_inline, write_heading
from roamtui.sources.decode import decode_text

_SECTION_SECONDS = 300
_PARAGRAPH_SECONDS_MIN, _PARAGRAPH_SECONDS_MAX = 20, 60
"""A paragraph ends with a sentence after the first, and with a cue after the second."""
_PAUSE_SECONDS = 3
"""A longer pause starts a paragraph."""
_TITLE_LENGTH_MAX = 60
_TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})[.,]\d{1,3}"
_CUE = re.compile(rf"^[ \t]*{_TIME}[ \t]+-+>[ \t]+{_TIME}(?:[ \t].*)?\n((?:(?!.*-->).*\S.*\n)*)", re.MULTILINE)
_SPEAKER = re.compile(r"<v(?:\.[^\s>]*)?[ \t]+([^<>]{1,100})>")
_MARK = re.compile(r"</?[A-Za-z][^<>]{0,200}>|<\d[\d:.]*>|\{\\[^{}]{0,100}\}|<[ivbuc]>")
"""Markup in a cue: tags, times and positions."""
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*$")


class _Passage(NamedTuple):
    """One cue, or several. Times are in seconds."""

    start: int
    end: int
    speaker: str
    """Empty if unknown."""
    text: str


def convert_subtitles(data: bytes, name: str) -> ConvertedText:
    """Convert subtitles to Markdown. The title of each section is its time and first words."""
    text, notes = decode_text(data, name)
    passages = _join_cues(_read_cues(text.replace("\r\n", "\n").replace("\r", "\n") + "\n"))
    has_hours = any(passage.end >= 3600 for passage in passages)
    blocks: list[str] = []
    section_start = -_SECTION_SECONDS
    for passage in passages:
        minutes, seconds = divmod(passage.start, 60)
        time = f"{minutes // 60}:{minutes % 60:02}:{seconds:02}" if has_hours else f"{minutes:02}:{seconds:02}"
        words = f"{passage.speaker}: {passage.text}" if passage.speaker else passage.text
        if passage.start - section_start >= _SECTION_SECONDS:
            section_start = passage.start
            title = words if len(words) <= _TITLE_LENGTH_MAX else f"{words[:_TITLE_LENGTH_MAX].rpartition(' ')[0]} …"
            blocks.append(write_heading(1, f"{time} {escape_inline(title)}"))
        blocks.append(f"**{time}** {escape_inline(words)}")
    return ConvertedText(text="\n\n".join(blocks) + "\n", notes=notes)


def _read_cues(text: str) -> Iterator[_Passage]:
    """Yield the cues that have text. Lines that roll-up captions repeat from the cue before are left out."""
    shown: list[str] = []
    for cue in _CUE.finditer(text):
        times, body = [int(part or 0) for part in cue.groups()[:6]], cue[7]
        speaker = _SPEAKER.search(body)
        lines = [" ".join(html.unescape(_MARK.sub("", line)).split()) for line in body.splitlines()]
        repeated = next((count for count in range(len(lines), 0, -1) if lines[:count] == shown[-count:]), 0)
        if words := " ".join(filter(None, lines[repeated:])):
            start, end = (hours * 3600 + minutes * 60 + seconds for hours, minutes, seconds in (times[:3], times[3:]))
            yield _Passage(start, max(start, end), " ".join(speaker[1].split()) if speaker else "", words)
        shown = lines


def _join_cues(cues: Iterator[_Passage]) -> list[_Passage]:
    """Join cues. A new passage starts at a pause, a new speaker, or a sentence end after a while."""
    passages: list[_Passage] = []
    for cue in cues:
        last = passages[-1] if passages else None
        if (
            last is not None
            and cue.speaker in ("", last.speaker)
            and last.start <= cue.start <= last.end + _PAUSE_SECONDS
            and last.end - last.start < _PARAGRAPH_SECONDS_MAX
            and (last.end - last.start < _PARAGRAPH_SECONDS_MIN or not _SENTENCE_END.search(last.text))
        ):
            passages[-1] = last._replace(end=max(last.end, cue.end), text=f"{last.text} {cue.text}")
        else:
            passages.append(cue)
    return passages
