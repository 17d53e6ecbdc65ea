"""Notebooks as Markdown: every version, cells that end what they leave open, and outputs as Jupyter shows them."""

import json

import pytest

from roamtui.convert.notebook import convert_notebook
from roamtui.errors import SourceError
from tests.case_files import read_rows
from tests.convert.samples import read_outline, read_sample


def _convert(notebook: object) -> str:
    return convert_notebook(json.dumps(notebook).encode(), "a.ipynb").text


@pytest.mark.parametrize(("output", "shown"), read_rows("convert/notebook", "outputs"))
def test_an_output_is_the_part_of_it_that_jupyter_shows(output: dict[str, object], shown: str) -> None:
    cell = {"cell_type": "code", "source": "x", "outputs": [{"output_type": "display_data", "data": output}]}
    assert _convert({"cells": [cell]}).removeprefix("```\nx\n```").strip("\n") == shown


_OPEN = (
    "```",
    "~~~~ text\n```",
    "````\n```\n```",
    "<!-- open",
    "text\n\n<pre>\n\n# no title",
    "<?php",
    "<![CDATA[",
    "<script>\n",
)
_ENDED = (
    "- ```\n  in an item",
    "> ```\n> in a quote",
    "- ```\n  x\n  ```\n\nend",
    "<div>",
    "```\nx\n```",
    "a <pre>",
    "Growth (data: see Table 1) ![](attachment:a.png)",
    "    ```",
)


@pytest.mark.parametrize("source", [*_OPEN, *_ENDED])
def test_what_a_cell_leaves_open_ends_with_it(source: str) -> None:
    cells = [{"cell_type": "markdown", "source": each} for each in ("# One", source, "# Two\n\nIt costs 40.")]
    text = _convert({"cells": cells})
    assert read_outline(text) == [(1, "One"), (1, "Two")]
    assert source in text
    if source in _ENDED:
        assert text == f"# One\n\n{source}\n\n# Two\n\nIt costs 40.\n"


def test_an_old_notebook_is_refused_by_its_version() -> None:
    with pytest.raises(SourceError, match=r"^a\.ipynb is a notebook of version 3, not 4\. Save it again in Jupyter\.$"):
        _convert({"nbformat": 3, "worksheets": [{"cells": []}]})


def test_a_file_without_cells_is_refused_by_what_it_lacks() -> None:
    with pytest.raises(SourceError, match=r"^a\.ipynb is not a notebook: it has no cells\."):
        _convert({"nbformat": 9})


def test_empty_fields_of_a_notebook_are_no_damage() -> None:
    cell = {"cell_type": "code", "source": "x", "outputs": None}
    assert _convert({"metadata": {"language_info": None}, "cells": [cell]}) == "```\nx\n```\n"
    assert _convert({"metadata": None, "cells": [cell]}) == "```\nx\n```\n"


def test_a_notebook_of_jupyter_keeps_markdown_code_and_outputs() -> None:
    converted = convert_notebook(read_sample("tides.ipynb"), "tides.ipynb")
    assert read_outline(converted.text) == [(1, "Tides"), (2, "By port"), (2, "Picture")]
    assert "Heights in *metres*." in converted.text
    assert "```python\nheights = {" in converted.text
    assert "```output\nhighest 7.2\n```" in converted.text
    assert "|  | port | metres |\n| --- | --- | --- |\n| 0 | Brest | 6.1 |" in converted.text
    assert "Cell In[4], line 1\n----> 1 1 / 0\n\nZeroDivisionError: division by zero\n```" in converted.text
    assert "Figure size" not in converted.text
    assert "base64" not in converted.text
