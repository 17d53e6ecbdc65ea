"""One background process for all tests of embedders: litellm takes seconds to load."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from roamtui.models.background import BackgroundModels


@pytest.fixture(scope="session")
def background(model_environ: dict[str, str]) -> Iterator[BackgroundModels]:
    models = BackgroundModels(model_environ)
    yield models
    models.close()
