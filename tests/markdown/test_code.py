"""What stands above a block of code."""

from __future__ import annotations

import pytest

from roamtui.markdown.code import describe_code


@pytest.mark.parametrize(
    ("info", "language", "label"),
    [
        ("", "", ""),
        ("py", "py", "py"),
        ('python title="x.py" hl_lines="1 2"', "python", "python · x.py"),
        ("rust,editable,compile_fail", "rust", "rust"),
        ("js{1,3-5} [main.js]", "js", "js · main.js"),
        ("ts:line-numbers {1}", "ts", "ts"),
        ("{.python .numberLines}", "python", "python"),
        ("c++", "c++", "c++"),
    ],
)
def test_options_of_site_generators_are_left_out(info: str, language: str, label: str) -> None:
    assert describe_code(info) == (language, label)
