"""What is written to a screen."""

from io import BytesIO, TextIOWrapper

import pytest

from roamtui.output import draw_similar_characters

_WRITTEN = "╭─╮│ ▸ ▾ ↑ ❯ “ü” — … 書\N{COMBINING ACUTE ACCENT}ж ✓"


@pytest.mark.parametrize(
    ("encoding", "drawn"),
    [("ascii", '+-+| > v ^ > "u" - . ??? *'), ("latin-1", '+-+| > v ^ > "ü" - . ??? *'), ("utf-8", _WRITTEN)],
)
def test_a_screen_that_lacks_a_character_gets_a_similar_one(encoding: str, drawn: str) -> None:
    written = BytesIO()
    screen = TextIOWrapper(written, encoding=encoding)
    draw_similar_characters(screen)
    screen.write(_WRITTEN)
    screen.flush()
    assert written.getvalue().decode(encoding) == drawn
