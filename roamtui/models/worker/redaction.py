"""Keys out of messages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_SECRET_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SECRET_LENGTH_MIN = 6
"""Anything shorter is a switch, not a secret, and would take words out of messages."""
_SECRET_SHAPES = re.compile(
    r"\b(?:sk|pk|gsk|xai|hf|AIza|AKIA)[-_]?[\w*.-]{8,}|(?<=Bearer )\S+|(?<=[?&]key=)[^&\s]+", re.ASCII
)
_MASK = "***"


def redact_secrets(text: str, environ: Mapping[str, str]) -> str:
    """Return `text` without the values of secret variables, and without what looks like a key."""
    values = {value.strip() for name, value in environ.items() if _SECRET_NAMES.search(name)}
    for value in sorted(values, key=len, reverse=True):
        if len(value) >= _SECRET_LENGTH_MIN:
            text = text.replace(value, _MASK)
    return _SECRET_SHAPES.sub(_MASK, text)
