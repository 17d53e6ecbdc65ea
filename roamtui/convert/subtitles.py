"""Convert subtitles (SRT, WebVTT) to Markdown: sections of a few minutes, paragraphs with times."""

import html
import re

from roamtui.convert.converted import ConvertedText
from roamtui.convert.decode import decode_text
from roamtui.convert.escaping import escape_inline, write_heading

_SECTION_SECONDS = 300
_PARAGRAPH_SECONDS = 40
_TITLE_LENGTH_MAX = 60
_CUE = re.compile(
    r"^[ \t]*(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})[.,]\d{1,3}[ \t]+-+>.*\n((?:(?!.*-->).*\S.*\n)*)", re.MULTILINE
)
_REPEATED_LINES_MAX = 20
_SPEAKER = re.compile(r"<v(?:\.[^\s>]*)?[ \t]+([^<>]{1,100})>")
_MARK = re.compile(r"</?[A-Za-z][^<>]{0,200}>|<\d[\d:.]*>|\{\\[^{}]{0,100}\}")
"""Markup in a cue: tags, times and positions."""


def convert_subtitles(data: bytes, name: str) -> ConvertedText:
    """Convert subtitles to Markdown. The title of each section is its time and first words."""
    text, notes = decode_text(data, name)
    # second of the start, and words
    paragraphs: list[tuple[int, str]] = []
    speaker = ""
    shown: list[str] = []
    for cue in _CUE.finditer(text.replace("\r\n", "\n").replace("\r", "\n") + "\n"):
        hours, minutes, seconds = (int(part or 0) for part in cue.groups()[:3])
        start = hours * 3600 + minutes * 60 + seconds
        named = _SPEAKER.search(cue[4])
        lines = [" ".join(html.unescape(_MARK.sub("", line)).split()) for line in cue[4].splitlines()]
        # Captions that roll up begin with the last lines of the cue before.
        counts = range(min(len(lines), len(shown), _REPEATED_LINES_MAX), 0, -1)
        repeated = next((count for count in counts if lines[:count] == shown[-count:]), 0)
        words = " ".join(filter(None, lines[repeated:]))
        shown = lines
        is_same = named is None or named[1] == speaker
        if words and paragraphs and is_same and start - paragraphs[-1][0] < _PARAGRAPH_SECONDS:
            paragraphs[-1] = paragraphs[-1][0], f"{paragraphs[-1][1]} {words}"
        elif words:
            speaker = named[1] if named else ""
            paragraphs.append((start, f"{speaker}: {words}" if speaker else words))
    blocks: list[str] = []
    section_start = -_SECTION_SECONDS
    for start, words in paragraphs:
        time = f"{start // 3600}:{start // 60 % 60:02}:{start % 60:02}"
        if start - section_start >= _SECTION_SECONDS:
            section_start = start
            title = words
            if len(words) > _TITLE_LENGTH_MAX:
                title = f"{words[:_TITLE_LENGTH_MAX].rpartition(' ')[0]} …"
            blocks.append(write_heading(1, f"{time} {escape_inline(title)}"))
        blocks.append(f"**{time}** {escape_inline(words)}")
    return ConvertedText(text="\n\n".join(blocks) + "\n", notes=notes)
