"""Summaries are agreed to before anybody is asked, kept one by one, and written once."""

from functools import partial
from pathlib import Path

import pytest

from roamtui.agent.consent import SpendingLimit
from roamtui.headless.index import add_summaries
from roamtui.search.index import IndexLocation
from tests.fakes.scripted_model import ScriptedModel
from tests.search.libraries import make_folder

LIBRARY = make_folder(
    {f"{name}.md": f"# {name.title()}\n\nAll of {name}.\n" for name in ("apples", "bees", "cherries")}
)
add = partial(add_summaries, spending=SpendingLimit(is_shared=True), assume_yes=True)


@pytest.fixture
def place(tmp_path: Path) -> IndexLocation:
    return IndexLocation(folder=tmp_path / "indexes")


def test_each_summary_is_written_once(place: IndexLocation, capsys: pytest.CaptureFixture[str]) -> None:
    model = ScriptedModel(["One.", "Two.", "Three."])
    library = add(LIBRARY, model, place)
    assert sorted(library.summaries.values()) == ["One.", "Three.", "Two."]
    assert model.is_closed
    message = capsys.readouterr().err
    assert message.startswith("For 3 summaries, scripted will read about ")
    assert "3 of 3 summaries\n" in message

    again = ScriptedModel()
    assert add(LIBRARY, again, place).summaries == library.summaries
    assert not again.requests
    assert capsys.readouterr().err == "All summaries exist already.\n"
