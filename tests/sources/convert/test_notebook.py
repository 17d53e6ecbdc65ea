"""Jupyter notebooks as Markdown: one that Jupyter's libraries wrote, and broken ones."""

from __future__ import annotations

from roamtui.sources.convert.notebook import convert_notebook
from tests.sources.convert.samples import read_outline, read_sample


def test_a_notebook_of_jupyter_keeps_markdown_code_and_outputs() -> None:
    converted = convert_notebook(read_sample("tides.ipynb"), "tides.ipynb")
    assert read_outline(converted.text) == [(1, "Tides"), (2, "By port"), (2, "Picture")]
    assert "Heights in *metres*." in converted.text
    assert "```python\nheights = {" in converted.text
    assert "```output\nhighest 7.2\n```" in converted.text
    assert "|  | port | metres |\n| --- | --- | --- |\n| 0 | Brest | 6.1 |" in converted.text
    assert "```output\nZeroDivisionError: division by zero\n```" in converted.text
    assert "Figure size" not in converted.text
    assert "base64" not in converted.text
