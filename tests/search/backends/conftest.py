"""The backends that store an index, with one interface for the tests."""

import importlib.util
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from roamtui.convert.converted import ProgressCallback
from roamtui.document.library import Library
from roamtui.search.base import RetrievalOptions, SearchMode, SearchServices
from roamtui.search.index import IndexLocation
from roamtui.search.searcher import Searcher
from tests.fakes.hashed_embedder import HashedEmbedder

_LANCE = pytest.param(
    "lance", marks=pytest.mark.skipif(importlib.util.find_spec("lancedb") is None, reason="LanceDB is not installed")
)


@dataclass
class Backend:
    """A backend; its searchers share the stored index."""

    name: str
    folder: Path
    options: RetrievalOptions = field(default_factory=lambda: RetrievalOptions(chunk_size=200))

    def __post_init__(self) -> None:
        if self.name == "lance":
            self.options = msgspec.structs.replace(self.options, index=str(self.folder / "database"))

    @property
    def location(self) -> IndexLocation:
        return IndexLocation(folder=self.folder / "indexes", stores_small=True)

    def count_written(self, library: Library) -> int:
        """Bring the index up to date, and return how many sections or chunks were written."""
        missing: dict[int, int] = {}
        """By the total of a job: what it had to write when it began."""
        totals = [0]

        def on_progress(done: int, total: int) -> None:
            assert done <= total
            missing.setdefault(total, total - done)
            totals.append(total)

        self.prepare(library, on_progress)
        return missing.get(totals[-1], 0)

    def prepare(self, library: Library, on_progress: ProgressCallback) -> None:
        if self.options.index is not None:
            self.open(library, SearchMode.VECTOR).prepare(on_progress)
        else:
            Searcher(library, location=self.location).prepare(on_progress)

    def open(
        self, library: Library, mode: SearchMode = SearchMode.KEYWORD, embedder: HashedEmbedder | None = None
    ) -> Searcher:
        services = SearchServices(embedder=embedder or HashedEmbedder(), needs_all_vectors=True)
        return Searcher(library, msgspec.structs.replace(self.options, mode=mode), services, self.location)


@pytest.fixture(params=["sqlite", _LANCE])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    return Backend(request.param, tmp_path)
