"""Convert subtitles (SRT or WebVTT) to Markdown: a section for every few minutes, and paragraphs with their times."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.convert.escaping import escape_inline, write_heading
from roamtui.sources.decode import decode_text

_SECTION_SECONDS = 300
"""A section ends with the first paragraph that ends at least this long after the start of the section."""
_PARAGRAPH_SECONDS_MIN = 20
"""A paragraph that is at least this long ends at the next end of a sentence."""
_PARAGRAPH_SECONDS_MAX = 60
_PAUSE_SECONDS = 3
"""A longer pause starts a paragraph."""
_TITLE_LENGTH_MAX = 60
_TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_TIMING = re.compile(rf"[ \t]*{_TIME}[ \t]+-+>[ \t]+{_TIME}(?:[ \t]|$)")
_SPEAKER = re.compile(r"<v(?:\.[^\s>]*)?[ \t]+([^<>]{1,100})>")
_MARK = re.compile(r"</?[A-Za-z][^<>]{0,200}>|<\d[\d:.]*>|\{\\[^{}]{0,100}\}|<[ivbuc]>")
"""Markup in a cue: tags, times and positions."""
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*$")


class _Passage(NamedTuple):
    """One cue, or several."""

    start: float
    """In seconds."""
    end: float
    speaker: str
    """Empty if unknown."""
    text: str


def convert_subtitles(data: bytes, name: str) -> ConvertedText:
    """Convert subtitles to Markdown. The title of each section is its time and first words."""
    text, notes = decode_text(data, name)
    sections: list[list[_Passage]] = []
    for passage in _join_cues(_read_cues(text)):
        if not sections or sections[-1][-1].end - sections[-1][0].start >= _SECTION_SECONDS:
            sections.append([])
        sections[-1].append(passage)
    if not sections:
        raise SourceError(f"{name} contains no subtitles. Open it as text by renaming it to end with .txt.")
    has_hours = sections[-1][-1].end >= 3600
    blocks: list[str] = []
    for section in sections:
        paragraphs = [f"{part.speaker}: {part.text}" if part.speaker else part.text for part in section]
        starts = [_format_time(part.start, has_hours=has_hours) for part in section]
        words = paragraphs[0]
        if len(words) > _TITLE_LENGTH_MAX:
            words = f"{words[:_TITLE_LENGTH_MAX].rpartition(' ')[0] or words[:_TITLE_LENGTH_MAX]} …"
        end = _format_time(section[-1].end, has_hours=has_hours)
        blocks.append(write_heading(1, f"{starts[0]}–{end} {escape_inline(words)}"))
        blocks += [f"**{start}** {escape_inline(words)}" for start, words in zip(starts, paragraphs, strict=True)]
    return ConvertedText(text="\n\n".join(blocks) + "\n", notes=notes)


def _read_cues(text: str) -> Iterator[_Passage]:
    """Yield the cues that have text. Lines that roll-up captions repeat from the cue before are left out."""
    timing: re.Match[str] | None = None
    lines: list[str] = []
    shown: list[str] = []
    for line in [*text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""]:
        next_timing = _TIMING.match(line)
        if line.strip() and next_timing is None:
            if timing is not None:
                lines.append(line)
            continue
        if timing is not None and lines:
            if next_timing is not None and lines[-1].strip().isdigit():
                lines.pop()  # the number of the next cue, without an empty line before it
            speaker = next((match[1] for match in map(_SPEAKER.search, lines) if match), "")
            spoken = [" ".join(html.unescape(_MARK.sub("", line)).split()) for line in lines]
            repeated = next((n for n in range(len(spoken), 0, -1) if spoken[:n] == shown[-n:]), 0)
            words = " ".join(filter(None, spoken[repeated:]))
            shown = spoken
            if words:
                start, end = _parse_time(timing.groups()[:4]), _parse_time(timing.groups()[4:])
                yield _Passage(start, max(start, end), " ".join(speaker.split()), words)
        timing, lines = next_timing, []


def _parse_time(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = (part or "0" for part in parts)
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds) + float(f".{fraction}")


def _join_cues(cues: Iterator[_Passage]) -> Iterator[_Passage]:
    """Join cues. A new passage starts at a pause, a new speaker, or a sentence end after a while."""
    passage = next(cues, None)
    for cue in cues:
        assert passage is not None
        seconds = passage.end - passage.start
        if (
            cue.speaker in ("", passage.speaker)
            and passage.start <= cue.start <= passage.end + _PAUSE_SECONDS
            and seconds < _PARAGRAPH_SECONDS_MAX
            and (seconds < _PARAGRAPH_SECONDS_MIN or not _SENTENCE_END.search(passage.text))
        ):
            passage = passage._replace(end=max(passage.end, cue.end), text=f"{passage.text} {cue.text}")
        else:
            yield passage
            passage = cue
    if passage is not None:
        yield passage


def _format_time(seconds: float, *, has_hours: bool) -> str:
    minutes, second = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{second:02}" if has_hours else f"{minutes:02}:{second:02}"
