"""The reader that tells the measures of quotes what a text has."""

import pytest

from tests.quotes.visible_text import Part, read_parts

_TEXT = """\
# Fees

The *late* fee[^1] is **2.5** euros<sup>3</sup>, see [the rules](rules.md "hidden").
It is <!-- hidden --> a two-
year fee. ::: no

- One &amp; <b>only</b>
- Two

| a | b |
|---|---|
| 1,200 | `x_y` |

```
let x = 1;
```

## Pages

Main pageFind the main page. <script>hidden()</script>
"""


def _read() -> Part:
    (part,) = read_parts(_TEXT, 1_000)
    return part


def test_it_reads_what_a_person_sees() -> None:
    assert [(unit.kind, unit.text) for unit in _read().units] == [
        ("heading", "Fees"),
        ("prose", "The late fee is 2.5 euros³, see the rules. It is a two-year fee. ::: no"),
        ("item", "One & only"),
        ("item", "Two"),
        ("cell", "a"),
        ("cell", "b"),
        ("cell", "1,200"),
        ("cell", "x_y"),
        ("code", "let x = 1;"),
        ("heading", "Pages"),
        ("prose", "Main pageFind the main page."),
    ]


@pytest.mark.parametrize(
    ("quote", "is_there"),
    [
        ("the late fee is", True),
        ("2.5 euros", False),
        ("5 euros³", False),
        ("fee is 2", False),
        ("a two-year fee. ::: no One & only", True),
        ("Two a b 1,200", True),
        ("200", False),
        ("late … rules", True),
        ("rules … late", False),
        ("fee … only", False),
        ("Find the main", True),
        ("hidden", False),
    ],
)
def test_it_tells_which_words_the_text_has(quote: str, is_there: bool) -> None:  # noqa: FBT001 - a case
    assert _read().contains(quote) is is_there
