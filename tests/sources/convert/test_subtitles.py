"""Subtitles as Markdown: sections of a few minutes, paragraphs with times, speakers, and broken files."""

from __future__ import annotations

import pytest

from roamtui.errors import SourceError
from roamtui.sources.convert.conversion import convert
from roamtui.sources.convert.subtitles import convert_subtitles
from tests.sources.convert.outlines import read_outline


def _write_talk(seconds: int) -> str:
    """Return subtitles with a cue for every four seconds."""
    return "\n\n".join(
        f"{number + 1}\n{_time(start)} --> {_time(start + 4)}\nSentence {number}\nends here."
        for number, start in enumerate(range(0, seconds, 4))
    )


def _time(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02},000"


def test_a_talk_has_a_section_every_five_minutes_with_its_time() -> None:
    text = convert_subtitles(_write_talk(1500).encode(), "a.srt").text
    titles = [title for _, title in read_outline(text)]
    assert [title[:5] for title in titles] == ["00:00", "05:00", "10:00", "15:00", "20:00"]
    assert titles[0] == "00:00 Sentence 0 ends here. Sentence 1 ends here. Sentence 2 ends …"
    assert "\n\n**05:20** Sentence 80 ends here. Sentence 81" in text


_VTT = """WEBVTT - A meeting

STYLE
::cue { color: red }

NOTE not spoken
at all

intro
00:01.000 --> 00:03.500 align:start position:10%
<v.loud Ada>Welcome &amp; <c.yellow>thank you</c>

00:03.500 --> 00:05.000
<v Ada>for <00:00:04.000><i>coming</i>.

00:05.000 --> 00:07.000
<v Bob>2 < 3, # he says

00:20.000 --> 00:22.000
{\\an8}After a pause.
"""


def test_speakers_tags_and_pauses() -> None:
    assert convert_subtitles(_VTT.encode(), "a.vtt").text == (
        "# 00:01 Ada: Welcome & thank you for coming.\n\n"
        "**00:01** Ada: Welcome & thank you for coming.\n\n"
        "**00:05** Bob: 2 < 3, # he says\n\n"
        "**00:20** After a pause.\n"
    )


@pytest.mark.parametrize("text", ["", "WEBVTT\n\n", "99:99:99,999 --> x\nwords", "\n" * 100_000], ids=len)
def test_a_file_without_subtitles_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(SourceError, match="contains no text"):
        convert(text.encode(), "a.vtt")
