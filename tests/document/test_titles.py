"""Anchors at the end of titles are for links, not for people."""

from __future__ import annotations

import pytest

from roamtui.document.titles import strip_anchor


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Ovens {#ovens}", "Ovens"),
        ("Ovens{#the-ovens.2} ", "Ovens"),
        ("Ovens { #the-ovens }", "Ovens"),
        ("Ovens {: #ovens .hot }", "Ovens"),
        ("Ovens { # }", "Ovens { # }"),
        ("Ovens", "Ovens"),
        ("Ovens {#a} and dough", "Ovens {#a} and dough"),
        ("Ovens {a}", "Ovens {a}"),
        ("{#bare}", ""),
        ("", ""),
    ],
)
def test_only_an_anchor_at_the_end_goes(title: str, shown: str) -> None:
    assert strip_anchor(title) == shown
