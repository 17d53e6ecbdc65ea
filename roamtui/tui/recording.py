"""Records the app while it answers questions, as an animated SVG or an asciicast.

The asciicast is the app's terminal output (asciicast v2, docs.asciinema.org/manual/asciicast/v2). The SVG stores each
distinct screen line once and animates them without scripts, so that a README can show it. Programs without animation
show the last picture.
"""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape, unescape
from itertools import pairwise
from time import monotonic
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from textual.drivers.headless_driver import HeadlessDriver
from textual.pilot import Pilot
from typing_extensions import override

from roamtui.conversation.transcript import StopReason
from roamtui.paths import display_path
from roamtui.tui.app import RoamApp
from roamtui.tui.context import AppContext

SUFFIXES = (".svg", ".cast")
"""The supported file extensions."""
_SCREEN_SIZE = (120, 34)
"""In columns and lines."""
_TYPING_SECONDS = 0.12
"""The pause between two typed words."""
_CAPTURE_SECONDS = 0.08
"""The pause between two captures while the screen changes."""
_PAUSE_SECONDS = 1.5
"""Longer waits, such as for a model, are cut to this length."""
_READING_SECONDS = 4.0
"""How long a finished answer is shown."""
_LINE_HEIGHT = 24.4
"""In pixels, in Rich's SVG pictures."""
# Parts of a picture that Rich exports.
_SVG_RECTANGLE = re.compile(r'<rect fill="([^"]+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"[^>]*/>')
_SVG_TEXT = re.compile(
    r'<text class="[^"]*-(r\d+)" x="([\d.]+)" y="([\d.]+)" textLength="([\d.]+)"[^>]*>([^<]*)</text>'
)
_SVG_STYLE = re.compile(r"-(r\d+) \{ ([^}]*) \}")
_SVG_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_SVG_BACKGROUND = re.compile(r'<rect fill="([^"]+)" stroke=')


async def record(context: AppContext, questions: Sequence[str], suffix: str) -> tuple[str, bool]:
    """Ask questions in the app without a terminal. Return the recording and whether all questions were answered.

    `suffix`, one of `SUFFIXES`, decides the format.
    """
    app, tape = RoamApp(context), _Recording(monotonic(), suffix == ".svg")
    title = f"roamtui {display_path(context.agent.session.state.library.source)}"

    class TapeDriver(HeadlessDriver):
        """A terminal whose output goes only to the tape."""

        @property
        @override
        def is_headless(self) -> bool:
            return False

        @override
        def write(self, data: str) -> None:
            tape.output.append((monotonic() - tape.start, data))

    async def play(pilot: Pilot[Any]) -> None:
        await pilot.pause(_PAUSE_SECONDS / 2)
        for question in questions:
            await _ask(app, pilot, question, tape)
        app.exit()

    app.console = Console(color_system="truecolor", file=io.StringIO(), legacy_windows=False)  # the same everywhere
    app.animation_level = "none"
    app.driver_class = TapeDriver
    await app.run_async(size=_SCREEN_SIZE, auto_pilot=play)
    exchanges = app.main_screen.session.state.transcript.exchanges
    completed = (StopReason.ANSWERED, StopReason.NOT_FOUND)
    is_answered = len(exchanges) == len(questions) and all(exchange.stopped in completed for exchange in exchanges)
    if suffix == ".svg":
        return _render_svg(tape, title), is_answered
    width, height = _SCREEN_SIZE
    header = {"version": 2, "width": width, "height": height, "title": title, "idle_time_limit": _PAUSE_SECONDS}
    lines = [header, *([round(moment, 3), "o", data] for moment, data in tape.output)]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), is_answered


@dataclass(frozen=True, slots=True)
class _Recording:
    """Captured output, with seconds since the start."""

    start: float
    captures_screen: bool
    """Whether to capture pictures of the screen."""
    output: list[tuple[float, str]] = field(default_factory=list)
    """The app's terminal output."""
    frames: list[tuple[float, str]] = field(default_factory=list)
    """Each screen that differs from the previous one, as Rich's SVG."""

    def capture(self, app: RoamApp) -> None:
        """Capture the current screen."""
        picture = app.export_screenshot(title="") if self.captures_screen else ""
        if picture and (not self.frames or picture != self.frames[-1][1]):
            self.frames.append((monotonic() - self.start, picture))


async def _ask(app: RoamApp, pilot: Pilot[Any], question: str, tape: _Recording) -> None:
    """Type a question and capture the screen until its answer has been shown for a while."""
    words = question.split()
    for end in range(len(words) + 1):
        app.main_screen.question_box.fill(" ".join(words[:end]))
        await pilot.pause(_TYPING_SECONDS)
        tape.capture(app)
    count = len(app.main_screen.session.state.transcript.exchanges)
    await pilot.press("enter")
    answered: float | None = None
    while answered is None or monotonic() - answered < _PAUSE_SECONDS:
        await asyncio.sleep(_CAPTURE_SECONDS)
        tape.capture(app)
        exchanges = app.main_screen.session.state.transcript.exchanges
        if answered is None and len(exchanges) > count and exchanges[-1].stopped is not None:
            answered = monotonic()


def _render_svg(tape: _Recording, title: str) -> str:
    """Render the animated SVG: the frames are side by side, and each is moved into view at its time."""
    styles: dict[str, str] = {}
    lines: dict[str, str] = {}
    frames = [_register_lines(picture, styles, lines) for _, picture in tape.frames]
    frames = [frames[-1], *frames[:-1]]
    first = tape.frames[0][1]
    size, background = _SVG_SIZE.search(first), _SVG_BACKGROUND.search(first)
    assert size is not None
    assert background is not None
    width, height = float(size[1]), float(size[2])
    uses = [
        f'<use href="#{name}" x="{number * width:g}" y="{line * _LINE_HEIGHT:g}"/>'
        for number, frame in enumerate(frames)
        for line, name in sorted(frame.items())
    ]
    moments = [moment for moment, _ in tape.frames]
    durations = [min(after - before, _PAUSE_SECONDS) for before, after in pairwise(moments)] + [_READING_SECONDS]
    seconds, elapsed, keys = sum(durations), 0.0, []
    for number, duration in enumerate(durations, 1):
        column = number % len(durations)  # the last picture is at the left end
        keys.append(f"{100 * elapsed / seconds:.3f}% {{ transform: translateX({-column * width:g}px); }}")
        elapsed += duration
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(title)}">
<style>
text {{ font: 20.26px Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; }}
{" ".join(f".{name} {{ {css} }}" for css, name in styles.items())}
@keyframes film {{ {" ".join(keys)} }}
@media (prefers-reduced-motion: no-preference) {{ #film {{ animation: film {seconds:.2f}s step-end infinite; }} }}
</style>
<defs>
{"".join(f'<g id="{name}">{content}</g>' for content, name in lines.items())}
</defs>
<rect fill="{background[1]}" width="{width:g}" height="{height:g}" rx="8"/>
<g transform="translate(26,22)">
<circle r="7" fill="#ff5f57"/><circle cx="22" r="7" fill="#febc2e"/><circle cx="44" r="7" fill="#28c840"/>
</g>
<text x="{width / 2:g}" y="27" text-anchor="middle" fill="#c5c8c6">{escape(title)}</text>
<svg x="9" y="41" width="{width - 18:g}" height="{height - 50:g}"><g id="film">{"".join(uses)}</g></svg>
</svg>
"""


def _register_lines(picture: str, styles: dict[str, str], lines: dict[str, str]) -> Mapping[int, str]:
    """Return, for each line of a picture, the name of its content in `lines`. Add new styles and contents to both."""
    new_names = {name: styles.setdefault(css, f"s{len(styles)}") for name, css in _SVG_STYLE.findall(picture)}
    contents: dict[int, list[str]] = {}
    for fill, x, y, width in _SVG_RECTANGLE.findall(picture):
        attributes = f'x="{float(x):g}" width="{float(width):g}" height="24.65"'
        contents.setdefault(int(float(y) / _LINE_HEIGHT), []).append(f'<rect fill="{fill}" {attributes}/>')
    for style, x, y, length, text in _SVG_TEXT.findall(picture):
        padded = unescape(text).replace("\u00a0", " ")
        words, width = padded.strip(), float(length) / max(1, len(padded))
        # Without spaces at its ends, because not every SVG renderer preserves them.
        left = float(x) + width * (len(padded) - len(padded.lstrip()))
        attributes = f'x="{left:g}" y="18.5" textLength="{width * cell_len(words):g}"'
        run = f'<text class="{new_names[style]}" {attributes}>{escape(words)}</text>' if words else ""
        contents.setdefault(int((float(y) - 20) / _LINE_HEIGHT + 0.5), []).append(run)
    return {line: lines.setdefault("".join(content), f"l{len(lines)}") for line, content in contents.items()}
