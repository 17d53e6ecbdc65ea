from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.node import NodeKind
from roamtui.document.parse import GROUP_LENGTH, PIECE_LENGTH, group_paragraphs

_LINES = st.lists(
    st.tuples(st.text(alphabet="ab ,;\t\u2028", max_size=300), st.sampled_from(["\n", "\r\n", "\r", "\n\n"])),
    max_size=40,
)


@given(_LINES, st.integers(0, 5))
def test_groups_cover_all_text_in_whole_lines(lines: list[tuple[str, str]], start: int) -> None:
    text = "x" * start + "".join(part for line in lines for part in line)
    rows = group_paragraphs(text, start)
    starts = [row.start for row in rows]
    assert starts == sorted(set(starts))
    assert starts[:1] == ([start] if start < len(text) else [])
    for row in rows[1:]:
        assert text[row.start - 1] in "\r\n"
        assert text[row.start - 1 : row.start + 1] != "\r\n"
    assert all(row.kind is NodeKind.TEXT and row.level in (1, 2) for row in rows)
    assert not rows or rows[0].level == 1


def test_groups_and_pieces_have_about_the_promised_length() -> None:
    text = "".join(f"Sentence {n} of the text goes on for a while.\n\n" for n in range(300))
    rows = group_paragraphs(text, 0)
    groups = [row.start for row in rows if row.level == 1] + [len(text)]
    group_lengths = [after - before for before, after in itertools.pairwise(groups)]
    assert all(GROUP_LENGTH / 2 <= length <= GROUP_LENGTH * 1.5 for length in group_lengths[:-1])
    pieces = [row.start for row in rows] + [len(text)]
    piece_lengths = [after - before for before, after in itertools.pairwise(pieces)]
    assert all(PIECE_LENGTH <= length <= PIECE_LENGTH * 2 for length in piece_lengths[:-1])


def test_a_title_is_the_first_words_without_marks_or_controls() -> None:
    rows = group_paragraphs(
        "* > Deploy \x1b[31mnow\x1b[0m, then wait for the long queue of jobs to come to an end\n", 0
    )
    assert rows[0].title.startswith("Deploy \u241b[31mnow\u241b[0m, then wait")
    assert rows[0].title.endswith("…")
    assert len(rows[0].title) <= 60
