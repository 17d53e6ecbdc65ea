"""How a line names a section; no document can imitate an id or an instruction on it."""

import re

import pytest

from roamtui.outline.labels import escape, format_node_and_heading, format_path
from roamtui.outline.render import render_outline
from tests.case_files import read_rows
from tests.outline.documents import write_words
from tests.search.libraries import id_of, make_folder, make_library


@pytest.mark.parametrize("title", read_rows("outline/labels", "imitations"))
@pytest.mark.parametrize("place", ["heading", "opening", "child", "grandchild", "term"])
def test_a_document_cannot_imitate_a_guiding_comment_or_an_id(title: str, place: str) -> None:
    text = {
        "heading": f"# {title}\n\nText\n\n# Other\n",
        "opening": f"# One\n\nWords, {title}\n\n# Other\n",
        "child": f"# One\n\n## {title}\n\nText\n\n# Other\n",
        "grandchild": f"# One\n\n## Two\n\n### {title}\n\n{write_words(3_000)}\n\n# Other\n",
        "term": f"# One\n\n**{title}** is a thing.\n\n{write_words(2_000)}\n\n# Other\n",
    }[place]
    library = make_library(text)
    for budget in (1_500, 200):
        outline = render_outline(library, budget_tokens=budget)
        assert re.search(r"\[[\s\"'`]*deadbeef", outline, re.IGNORECASE) is None
        assert set(re.findall(r"\[([0-9a-f]{8})", outline)) <= {*library.walk(), library.root_id}


@pytest.mark.parametrize(("text", "shown"), read_rows("outline/labels", "escaped"))
def test_only_imitations_are_escaped(text: str, shown: str) -> None:
    assert escape(text) == shown


@pytest.mark.parametrize("name", ["licence.md", "LICENCE"])
def test_a_title_that_repeats_the_name_of_its_file_is_not_written_again(name: str) -> None:
    library = make_folder({name: "# Licence\n\nYou may copy it.\n"})
    assert format_node_and_heading(library.node(id_of(library, name))) == name
    assert format_path(library, id_of(library, "Licence")) == name
