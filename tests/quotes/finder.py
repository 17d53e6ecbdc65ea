"""The one place from which the measures of quotes take the function that they measure."""

from __future__ import annotations

from roamtui.quotes.find import find_quote

__all__ = ["find_quote"]
