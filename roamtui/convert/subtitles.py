"""Convert subtitles (SRT, WebVTT) to Markdown: sections of a few minutes, paragraphs with times."""

import html
import re
from collections.abc import Iterator

from roamtui.convert.converted import ConvertedText
from roamtui.convert.decode import decode_text
from roamtui.markdown.escaping import escape_inline, write_heading
from roamtui.text import normalise_line_ends, shorten

_SECTION_SECONDS = 300
_PARAGRAPH_SECONDS = 40
_TITLE_LENGTH_MAX = 60
_TIME = r"((?:\d{1,3}:)?\d{1,2}:\d{1,2}(?:[.,]\d{1,3})?)"
_CUE = re.compile(
    rf"^[ \t]*{_TIME}[ \t]*-+>(?:[ \t]*{_TIME})?.*\n"
    r"((?:(?!.*-->|[ \t]*\d+[ \t]*\n.*-->).*\S.*\n)*)",
    re.MULTILINE,
)
"""A cue: its times and its lines. In a file without empty lines, the number of the next cue ends it."""
_EMPTY_LINES = re.compile(r"\n(?:[ \t]*\n)+(?:([ \t]*\d+[ \t]*\n)[ \t\n]*+(?=.*-->)|(?!.*-->))")
"""Empty lines, except before times, but around the number of a cue. In SRT, they may be inside a cue."""
_REPEATED_LINES_MAX = 20
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?(?:\s+([^<>]{0,100}))?>|(</v>)|\n")
"""The start or end of a speaker's words, or of a line."""
_MARK = re.compile(
    r"</?(?:(?:[bcisu]|ruby|rt)(?:\.[^\s<>]{0,100})?|(?:font|lang|v)(?:[\s.][^<>]{0,200})?)>"
    r"|<\d[\d:.]*>|\{\\[^{}]{0,100}\}",
    re.IGNORECASE,
)
"""Markup in a cue: the tags that WebVTT and SRT have, times and positions."""
_READING = {"<rt>": "(", "</rt>": ")"}


def convert_subtitles(data: bytes, name: str) -> ConvertedText:
    """Convert subtitles to Markdown. The title of each section is its time and first words."""
    text, notes = decode_text(data, name)
    text = normalise_line_ends(text) + "\n"
    if not text.startswith("WEBVTT"):
        text = _EMPTY_LINES.sub(r"\n\1", text)
    # second of the start, speaker, and words
    paragraphs: list[tuple[int, str, str]] = []
    shown: list[str] = []
    shown_end = 0.0
    for cue in _CUE.finditer(text):
        start = _read_seconds(cue[1])
        spoken = list(_iter_spoken(cue[3]))
        lines = [words for _, words in spoken]
        # Rolling captions have several lines, and repeat the last ones of the cue before without a pause.
        is_rolling = start == shown_end and len(lines + shown) > 2
        rolled = shown if start < shown_end or is_rolling else []
        counts = range(min(len(lines), len(rolled), _REPEATED_LINES_MAX), 0, -1)
        repeated = next((count for count in counts if lines[:count] == rolled[-count:]), 0)
        shown = lines
        shown_end = _read_seconds(cue[2] or "0")
        for speaker, words in spoken[repeated:]:
            began, before, said = paragraphs[-1] if paragraphs else (0, None, "")
            if speaker == before and start - began < _PARAGRAPH_SECONDS:
                paragraphs[-1] = began, speaker, f"{said} {words}"
            else:
                paragraphs.append((int(start), speaker, words))
    blocks: list[str] = []
    section_start = -_SECTION_SECONDS
    for start, speaker, said in paragraphs:
        words = f"{speaker}: {said}" if speaker else said
        time = f"{start // 3600}:{start // 60 % 60:02}:{start % 60:02}"
        if start - section_start >= _SECTION_SECONDS:
            section_start = start
            title = shorten(words, _TITLE_LENGTH_MAX)
            blocks.append(write_heading(1, f"{time} {escape_inline(title)}"))
        blocks.append(f"**{time}** {escape_inline(words)}")
    return ConvertedText(text="\n\n".join(blocks) + "\n", notes=notes)


def _iter_spoken(cue: str) -> Iterator[tuple[str, str]]:
    """Yield the speaker, or "", and the words of each line of a cue, or of each part with one speaker."""
    speakers = [""]
    position = 0
    for mark in _VOICE.finditer(f"{cue}\n"):
        if words := _read_words(cue[position : mark.start()]):
            yield speakers[-1], words
        position = mark.end()
        if mark[2] and len(speakers) > 1:
            speakers.pop()
        elif mark[0].startswith("<v"):
            speakers.append(_read_words(mark[1] or ""))


def _read_seconds(time: str) -> float:
    seconds = 0.0
    for part in time.replace(",", ".").split(":"):
        seconds = seconds * 60 + float(part)
    return seconds


def _read_words(marked: str) -> str:
    return " ".join(html.unescape(_MARK.sub(lambda mark: _READING.get(mark[0], ""), marked)).split())
