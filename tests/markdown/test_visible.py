"""One line of the words that a reader sees."""

import pytest

from roamtui.markdown.visible import read_visible_line


@pytest.mark.parametrize(
    ("piece", "line"),
    [
        ("Set **`max_tokens`** to 1_024.", "Set max_tokens to 1_024."),
        ("A wildcard `*.vespa.example.com` and *one* word.", "A wildcard *.vespa.example.com and one word."),
        ('`{"role": "user"}` and <b>bold</b>', '{"role": "user"} and bold'),
        ("See also: [Typing](x.md) and ![a picture](y.png) <sup", "See also: Typing and"),
        ("| Fee | 3 \\| 4 |", "Fee 3 | 4"),
        ("- An item\n- and one", "An item and one"),
        ("3. Third\n4. Fourth", "3. Third 4. Fourth"),
        ("> [!NOTE]\n> Mind the gap.", "Mind the gap."),
        ("    x = a_b * c\n", "x = a_b * c"),
        ("## A heading\n\nand text", "A heading and text"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a b 1 2"),
        ("", ""),
    ],
)
def test_a_piece_reads_as_a_person_sees_it(piece: str, line: str) -> None:
    assert read_visible_line(piece) == line
