"""A small manual for all tests of the outline."""

import pytest

from roamtui.document.library import Library
from tests.outline.documents import MANUAL
from tests.search.libraries import make_library


@pytest.fixture
def manual() -> Library:
    """Return a manual with a title, two chapters, and an empty section."""
    return make_library(MANUAL)
