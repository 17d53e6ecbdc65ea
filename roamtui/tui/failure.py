"""A failure in one sentence."""

from __future__ import annotations

from roamtui.errors import RoamtuiError


def describe_failure(error: BaseException | None) -> str:
    """Return a failure in one sentence; our own errors are sentences already."""
    if isinstance(error, RoamtuiError):
        return str(error)
    kind = type(error).__name__
    return f"Something went wrong inside roamtui ({kind}: {error}). The conversation goes on; ask again."
