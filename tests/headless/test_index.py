"""Summaries are agreed to before anybody is asked, kept one by one, and written once."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from roamtui.agent.consent import SpendingLimit
from roamtui.errors import ModelError
from roamtui.headless.index import add_summaries
from roamtui.search.index import IndexLocation
from roamtui.search.section_store import load_summaries
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.search.libraries import make_folder

LIBRARY = make_folder(
    {f"{name}.md": f"# {name.title()}\n\nAll of {name}.\n" for name in ("apples", "bees", "cherries")}
)
add = partial(add_summaries, spending=SpendingLimit(is_shared=True), assume_yes=True)


def _make_model(*texts: str | ModelError) -> ScriptedModel:
    return ScriptedModel([ScriptedReply(error=text) if isinstance(text, ModelError) else text for text in texts])


def _list_texts(place: IndexLocation) -> Sequence[str]:
    path = place.get_path(LIBRARY)
    assert path is not None
    return sorted(load_summaries(path).values())


@pytest.fixture
def place(tmp_path: Path) -> IndexLocation:
    return IndexLocation(folder=tmp_path / "indexes")


def test_each_summary_is_written_once(place: IndexLocation, capsys: pytest.CaptureFixture[str]) -> None:
    model = _make_model("One.", "Two.", "Three.")
    library = add(LIBRARY, model, place)
    assert sorted(library.summaries.values()) == ["One.", "Three.", "Two."]
    assert model.is_closed
    message = capsys.readouterr().err
    assert message.startswith("For 3 summaries, scripted will read about ")
    assert "3 of 3 summaries\n" in message

    again = _make_model()
    assert add(LIBRARY, again, place).summaries == library.summaries
    assert not again.requests
    assert capsys.readouterr().err == "All summaries exist already.\n"
