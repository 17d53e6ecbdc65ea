from __future__ import annotations

import pytest

from roamtui.document.front_matter import measure_front_matter, read_title


@pytest.mark.parametrize(
    ("text", "front_matter"),
    [
        ("---\na: 1\n---\nrest", "---\na: 1\n---\n"),
        ("---  \na: 1\n...\t\nrest", "---  \na: 1\n...\t\n"),
        ("---\n---\nrest", "---\n---\n"),
        ("---\na: 1\n---", "---\na: 1\n---"),
        ("---\na: 1\n", ""),
        ("---\n\na: 1\n---\n", ""),
        ("----\na: 1\n---\n", ""),
        ("--- a\na: 1\n---\n", ""),
        ("\n---\na: 1\n---\n", ""),
        (" ---\na: 1\n---\n", ""),
        ("---", ""),
        ("", ""),
    ],
)
def test_front_matter_of(text: str, front_matter: str) -> None:
    assert text[: measure_front_matter(text)] == front_matter


@pytest.mark.parametrize(
    ("front_matter", "title"),
    [
        ("---\ntitle: A guide\n---\n", "A guide"),
        ('---\ntitle: "A guide"  \n---\n', "A guide"),
        ("---\nauthor: x\ntitle:\t'A: guide'\n---\n", "A: guide"),
        ("---\nsubtitle: no\n---\n", ""),
        ("---\nnested:\n  title: no\n---\n", ""),
        ("---\ntitle:\nauthor: x\n---\n", ""),
        ("", ""),
    ],
)
def test_title_of(front_matter: str, title: str) -> None:
    assert read_title(front_matter) == title
