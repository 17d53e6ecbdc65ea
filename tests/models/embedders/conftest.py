"""One background process for all tests of embedders: litellm takes seconds to load."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from roamtui.models.search_help import BackgroundModels

collect_ignore = [] if find_spec("sentence_transformers") else ["test_real_model.py"]
"""A model that is not installed is left out; `make embeddings` runs it where it is."""


@pytest.fixture(scope="session")
def background(model_environ: dict[str, str]) -> Iterator[BackgroundModels]:
    models = BackgroundModels(model_environ)
    yield models
    models.close()
