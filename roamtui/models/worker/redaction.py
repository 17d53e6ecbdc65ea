"""Keys out of messages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from roamtui.models.keys import find_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping

_SECRET_SHAPES = re.compile(
    r"\b(?:sk|pk|gsk|xai|hf|AIza|AKIA)[-_]?[\w*.-]{8,}|(?<=Bearer )\S+|(?<=[?&]key=)[^&\s]+", re.ASCII
)
_MASK = "***"


def redact_secrets(text: str, environ: Mapping[str, str]) -> str:
    """Return `text` without the values of secret variables, and without what looks like a key."""
    for value in sorted(find_secrets(environ), key=len, reverse=True):
        text = text.replace(value, _MASK)
    return _SECRET_SHAPES.sub(_MASK, text)
