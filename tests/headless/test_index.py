"""What an index says about search by meaning; summaries are agreed to before anybody is asked, and written once."""

from functools import partial
from pathlib import Path

import pytest

from roamtui.agent.approvals import SpendingLimit
from roamtui.headless.index import add_summaries, run_index
from roamtui.paths import get_cache_path
from roamtui.search.base import RetrievalOptions, SearchServices
from roamtui.search.index import IndexLocation
from tests.fakes.hashed_embedder import HashedEmbedder
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


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# Nur Wörter\n\nDas ist nicht in der Sprache, die wir vergleichen.\n", "does not compare German text."),
        ("# Contents\n\n# Notices\n", "All sections that have text are compared by meaning."),
    ],
)
def test_a_damaged_index_is_built_again_and_says_whether_it_compares_by_meaning(
    text: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    library = make_folder({"only.md": text})
    services = SearchServices(embedder=HashedEmbedder(), needs_all_vectors=True)
    location = IndexLocation(folder=get_cache_path("indexes"))
    path = location.get_path(library)
    assert path is not None
    path.parent.mkdir(parents=True)
    path.write_bytes(b"damaged " * 1_000)
    run_index(library, RetrievalOptions(), services, None, SpendingLimit(is_shared=True), assume_yes=True)
    output = capsys.readouterr()
    assert told in output.out
    warned = output.err.splitlines()[0]
    assert warned == "roamtui: The search index on disk cannot be used (file is not a database), so it is built again."
