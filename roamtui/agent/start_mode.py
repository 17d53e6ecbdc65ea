"""When a question goes to the model with sections open already. Imports nothing heavy: settings need it."""

from __future__ import annotations

from enum import StrEnum


class ConfidentStart(StrEnum):
    """When what search finds beyond doubt is open as a question goes to the model."""

    REMOTE = "remote"
    """For models that take time and money for each step: all but the offline one."""
    ALWAYS = "always"
    OFF = "off"
