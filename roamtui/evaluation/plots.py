"""Bars with whiskers, as SVG and as text."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROW_HEIGHT = 26
_BAR_HEIGHT = 14
_LABEL_WIDTH = 330
_PLOT_WIDTH = 480
_VALUE_WIDTH = 110
_TEXT_WIDTH = 40
_TEXT_LABEL_MAX = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One value with the range that it may lie in."""

    label: str
    value: float
    low: float
    high: float


def draw_bars(bars: Sequence[Bar], unit: str) -> str:
    """Return horizontal bars as an SVG element, all to one scale from 0."""
    top = _find_top(bars, unit)
    height = _ROW_HEIGHT * len(bars) + 4
    width = _LABEL_WIDTH + _PLOT_WIDTH + _VALUE_WIDTH
    parts = [f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" font-size="13">']
    for index, bar in enumerate(bars):
        y = index * _ROW_HEIGHT + 4
        middle = y + _BAR_HEIGHT / 2
        x, low, high = (_LABEL_WIDTH + _PLOT_WIDTH * value / top for value in (bar.value, bar.low, bar.high))
        parts += [
            f'<text x="{_LABEL_WIDTH - 8}" y="{y + 12}" text-anchor="end">{escape(bar.label)}</text>',
            f'<rect x="{_LABEL_WIDTH}" y="{y}" width="{x - _LABEL_WIDTH:.1f}" height="{_BAR_HEIGHT}" fill="#5b8def"/>',
            f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}" stroke="#1b1f24" stroke-width="1.5"/>',
            f'<text x="{max(x, high) + 8:.1f}" y="{y + 12}">{_show(bar.value, unit)}</text>',
        ]
    return "\n".join([*parts, "</svg>"])


def draw_text_bars(bars: Sequence[Bar], unit: str) -> str:
    """Return horizontal bars as lines of text."""
    top = _find_top(bars, unit)
    labels = [bar.label[:_TEXT_LABEL_MAX].replace("`", "'") for bar in bars]
    width = max(map(len, labels), default=0)
    return "\n".join(
        f"{label:<{width}}  {'█' * round(_TEXT_WIDTH * bar.value / top):<{_TEXT_WIDTH}}  {_show(bar.value, unit)}"
        for label, bar in zip(labels, bars, strict=True)
    )


def _find_top(bars: Sequence[Bar], unit: str) -> float:
    return 100.0 if unit == "%" else max((max(bar.value, bar.high) for bar in bars), default=0.0) or 1.0


def _show(value: float, unit: str) -> str:
    return f"{value:,.0f} {unit}" if unit == "tok" else f"{value:,.1f} {unit}"
