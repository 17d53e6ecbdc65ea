"""When a question goes to the model with sections open already. Imports nothing heavy: settings need it."""

from __future__ import annotations

from enum import StrEnum


class ConfidentStart(StrEnum):
    """When a question goes to the model with what search finds for it."""

    REMOTE = "remote"
    """For models that take time and money for each step: all but the offline one."""
    ALWAYS = "always"
    OFF = "off"
