"""A failure in one sentence."""

from __future__ import annotations

from roamtui.errors import RoamtuiError


def describe_failure(error: BaseException | None) -> str:
    """Return a failure in one sentence; our own errors are sentences already."""
    if isinstance(error, RoamtuiError):
        return str(error)
    kind = type(error).__name__
    return f"Something went wrong inside roamtui ({kind}: {error}). The conversation goes on; ask again."


def forget_frames(error: BaseException) -> None:
    """Take from an error what led to it, once it has been told.

    A widget that a worker made holds that worker for as long as it stands on the screen, the worker its error, and the
    error's frames all that they worked with, such as a request with the whole conversation.
    """
    error.__traceback__ = error.__context__ = error.__cause__ = None
