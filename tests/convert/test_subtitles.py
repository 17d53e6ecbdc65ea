"""Subtitles as Markdown: sections of a few minutes, paragraphs with times, and speakers."""

import pytest

from roamtui.convert.subtitles import convert_subtitles
from tests.case_files import read_case, read_rows
from tests.convert.samples import read_outline


def test_a_talk_has_a_section_every_five_minutes_with_its_time() -> None:
    cues = (f"{time // 60:02}:{time % 60:02},000 --> x\nSentence {time}\nends here." for time in range(0, 1500, 4))
    text = convert_subtitles("\n\n".join(cues).encode(), "a.srt").text
    titles = [title for _, title in read_outline(text)]
    assert [title[:7] for title in titles] == ["0:00:00", "0:05:20", "0:10:40", "0:16:00", "0:21:20"]
    assert titles[0] == "0:00:00 Sentence 0 ends here. Sentence 4 ends here. Sentence 8…"
    assert "\n\n**0:05:20** Sentence 320 ends here. Sentence 324" in text


def test_a_title_without_spaces_keeps_its_first_words() -> None:
    text = convert_subtitles(f"00:01.000 --> 00:04.000\n{'今日は港の話をします' * 9}\n".encode(), "a.vtt").text
    assert text.startswith("# 0:00:01 今日は港の話をします")


_VTT = read_case("meeting.vtt")


def test_speakers_stay_and_markup_and_words_shown_twice_leave() -> None:
    assert convert_subtitles(_VTT.encode(), "a.vtt").text == (
        "# 0:00:01 Ada: Welcome & thank you for coming.\n\n"
        "**0:00:01** Ada: Welcome & thank you for coming.\n\n"
        "**0:00:05** Bob: 2 < 3, # he says\n"
    )


@pytest.mark.parametrize(("end", "said"), [("01:08,501", "No."), ("01:08,500", "No. No."), ("01:08,499", "No. No.")])
def test_the_same_words_that_follow_are_said_again(end: str, said: str) -> None:
    srt = f"1\n00:01:01,000 --> 00:{end}\nNo.\n\n2\n00:01:08,500 --> 00:01:10,000\nNo.\n"
    assert convert_subtitles(srt.encode(), "a.srt").text.endswith(f"**0:01:01** {said}\n")


def test_lines_that_roll_up_are_said_once() -> None:
    cues = ("a", "a\nb", "b", "b\nc", "c")
    file = "\n".join(f"00:0{at}.000 --> 00:0{at + 1}.000\n{cue}\n" for at, cue in enumerate(cues))
    assert convert_subtitles(f"WEBVTT\n\n{file}".encode(), "a.vtt").text.endswith("**0:00:00** a b c\n")


def test_cues_without_lines_between_them_keep_numbers_that_are_words() -> None:
    srt = "1\n00:01:01,000-->00:01:02,000\nHow many?\n7\n2\n00:01:03,000 --> 00:01:04,000\nBye\n3\n"
    assert convert_subtitles(srt.encode(), "a.srt").text.endswith("**0:01:01** How many? 7 Bye 3\n")


def test_an_empty_line_in_a_cue_of_srt_ends_no_cue() -> None:
    srt = "1\n00:01:01,000 --> 00:01:02,000\nTwo and two\n\n is 4\n \n\n2\n00:01:03,000 --> 00:01:04,000\n8\n\n"
    assert convert_subtitles(srt.encode(), "a.srt").text.endswith("**0:01:01** Two and two is 4 8\n")
    spaced = srt.replace("\n\n is 4\n \n\n", "\n is 4\n").replace("\n", "\n\n")
    assert convert_subtitles(spaced.encode(), "a.srt").text.endswith("**0:01:01** Two and two is 4 8\n")
    vtt = "WEBVTT\n\n00:01.000 --> 00:02.000\n<ruby>漢<rt>kan</rt></ruby>\n\nNOTE not said\n\nx\n00:03 --> 00:04\n9\n"
    assert convert_subtitles(vtt.encode(), "a.vtt").text.endswith("**0:00:01** 漢(kan) 9\n")


@pytest.mark.parametrize(("cues", "paragraphs"), read_rows("convert/subtitles", "speakers"))
def test_words_belong_to_who_says_them(cues: list[str], paragraphs: list[str]) -> None:
    times = [f"00:0{number}.000" for number in range(len(cues) + 1)]
    file = "\n\n".join(f"{times[number]} --> {times[number + 1]}\n{cue}" for number, cue in enumerate(cues))
    text = convert_subtitles(f"WEBVTT\n\n{file}".encode(), "a.vtt").text
    assert [block[len("**0:00:00** ") :] for block in text.strip().split("\n\n")[1:]] == paragraphs


def test_times_need_no_parts_of_a_second() -> None:
    text = convert_subtitles(b"00:00:01 --> 00:00:02\nHello\n", "a.vtt").text
    assert text.endswith("**0:00:01** Hello\n")
