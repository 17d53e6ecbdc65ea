"""Fences that are found line by line."""

from __future__ import annotations

from functools import reduce

import pytest

from roamtui.markdown.fences import update_fence


@pytest.mark.parametrize(
    ("lines", "opening"),
    [
        ("```python\nx = 1", "```python"),
        ("```python\nx = 1\n```", ""),
        ("````\n```\nx", "````"),
        ("````\n`````  \nx", ""),
        ("~~~\n```\nx", "~~~"),
        ("```\n``` python\nx", "```"),
        ("``` a`b\nx", ""),
        ("~~~ a`b\nx", "~~~ a`b"),
        ("- a\n    ```\n    x", "    ```"),
        ("> ```\n> x\n> ```", ""),
        ("``\nx", ""),
    ],
)
def test_a_fence_is_open_until_a_line_of_its_own_kind_that_is_as_long(lines: str, opening: str) -> None:
    assert reduce(update_fence, lines.split("\n"), "") == opening
