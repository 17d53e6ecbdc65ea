"""Subtitles as Markdown: sections of a few minutes, paragraphs with times, and speakers."""

from roamtui.convert.subtitles import convert_subtitles
from tests.case_files import read_case
from tests.convert.samples import read_outline


def test_a_talk_has_a_section_every_five_minutes_with_its_time() -> None:
    cues = (f"{time // 60:02}:{time % 60:02},000 --> x\nSentence {time}\nends here." for time in range(0, 1500, 4))
    text = convert_subtitles("\n\n".join(cues).encode(), "a.srt").text
    titles = [title for _, title in read_outline(text)]
    assert [title[:7] for title in titles] == ["0:00:00", "0:05:20", "0:10:40", "0:16:00", "0:21:20"]
    assert titles[0] == "0:00:00 Sentence 0 ends here. Sentence 4 ends here. Sentence 8 ends …"
    assert "\n\n**0:05:20** Sentence 320 ends here. Sentence 324" in text


_VTT = read_case("meeting.vtt")


def test_speakers_stay_and_markup_and_words_shown_twice_leave() -> None:
    assert convert_subtitles(_VTT.encode(), "a.vtt").text == (
        "# 0:00:01 Ada: Welcome & thank you for coming.\n\n"
        "**0:00:01** Ada: Welcome & thank you for coming.\n\n"
        "**0:00:05** Bob: 2 < 3, # he says\n"
    )
