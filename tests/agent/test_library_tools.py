"""Tools for whole documents: there for a library of several files alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from roamtui.agent.loop import Agent
from roamtui.agent.tools.documents import DocumentsTool
from roamtui.conversation.session import Session
from roamtui.document.library import Library
from roamtui.libraries import open_library
from roamtui.outline.structure import find_canonical
from roamtui.search.keyword import KeywordSearcher
from tests.agent.manual_agent import results
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply

FILES = {
    "birds/herons.md": "# Herons\n\nThe heron stands in water.\n\n## Food\n\nA heron eats fish.\n",
    "birds/owls.md": "# Owls\n\nThe owl turns its head.\n\n## Food\n\nAn owl eats mice and, once, a fish.\n",
    "fish.md": "# Fish\n\nThe carp swims.\n\n## Size\n\nA carp is long.\n",
}


@pytest.fixture
def library(tmp_path: Path) -> Library:
    for name, text in FILES.items():
        path = tmp_path / "animals" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return open_library((str(tmp_path / "animals"),))


async def _call(library: Library, tool: str, **arguments: object) -> tuple[str, Agent, list[object]]:
    calls = ((tool, json.dumps(arguments)),)
    model = ScriptedModel([ScriptedReply(calls=calls), ScriptedReply(text="Not found: no.")])
    agent = Agent(Session.start(library), model, KeywordSearcher(library))
    events: list[object] = [event async for event in agent.ask("What of fish?")]
    return results(agent)[0], agent, events


def _find(library: Library, name: str) -> str:
    return next(node_id for node_id in library.root.ids if library.title_of(node_id) == name)


async def test_documents_are_listed_with_their_opening_some_at_a_time(library: Library) -> None:
    names = ("herons.md", "owls.md", "fish.md")
    herons, owls, fish = (find_canonical(library, _find(library, name)) for name in names)
    text, _, _ = await _call(library, DocumentsTool.spec.name)
    assert text.split("\n")[0] == "Documents 1 to 3 of 3:"
    assert f"[{herons}] birds > herons.md (9 of 16): " in text
    assert "The heron stands in water." in text
    assert text.index(herons) < text.index(owls) < text.index(fish)
    some, _, _ = await _call(library, DocumentsTool.spec.name, limit="1", offset=1)
    assert some.split("\n")[0] == "Documents 2 to 2 of 3:"
    assert some.endswith("(1 more: call list_documents with offset 2.)")
    none, _, _ = await _call(library, DocumentsTool.spec.name, offset=9)
    assert none == "There are 3 documents, none after 3."
