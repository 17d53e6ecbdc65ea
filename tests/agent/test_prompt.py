"""What each request says before a word of the document is cheap."""

from __future__ import annotations

import json

import pytest

from roamtui.agent.prompt import SYSTEM
from roamtui.agent.tools import make_tools
from roamtui.document.library import Library
from roamtui.document.tokens import estimate_tokens
from tests.search.libraries import make_folder, make_library


@pytest.mark.parametrize(
    ("library", "tokens_max"), [(make_library("# A\n"), 700), (make_folder({"a.md": "A.", "b.md": "B."}), 850)]
)
def test_our_text_and_the_tools_are_short(library: Library, tokens_max: int) -> None:
    specs = [tool.spec for tool in make_tools(library, has_search=True).values()]
    told = "".join(f"{spec.name}{spec.description}{json.dumps(spec.parameters)}" for spec in specs)
    assert estimate_tokens(SYSTEM) + estimate_tokens(told) <= tokens_max
