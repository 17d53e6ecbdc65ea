"""Documents first: sections of the best documents alone, in the order in which they were found."""

from __future__ import annotations

from roamtui.search.choosing import make_searcher
from roamtui.search.options import RetrievalOptions
from tests.search.libraries import make_folder

LIBRARY = make_folder(
    {
        "a.md": "# Zebras\n\nZebras and more zebras.\n\n## Stripes\n\nA zebra has stripes.\n",
        "b.md": "# Horses\n\nNo zebra at all, but a horse that looks over a fence.\n",
        "c.md": "# Cows\n\nA cow.\n",
    }
)


def _find(count: int, limit: int = 10) -> list[str]:
    searcher = make_searcher(LIBRARY, RetrievalOptions(documents=count))
    assert searcher is not None
    searcher.refresh(LIBRARY)
    return [LIBRARY.title_of(hit.section_id) for hit in searcher.search("zebra", limit=limit)]


def test_only_sections_of_the_best_documents_are_given() -> None:
    assert _find(0) == ["Zebras", "Stripes", "Horses"]
    assert _find(1) == ["Zebras", "Stripes"]
    assert _find(2) == _find(0)


def test_no_more_are_given_than_are_wanted() -> None:
    assert _find(1, limit=1) == ["Zebras"]
