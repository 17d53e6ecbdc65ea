"""A recording of the app: questions asked one after the other, as an animated SVG or an asciicast.

The asciicast is what the app writes to a terminal (asciicast v2, docs.asciinema.org/manual/asciicast/v2). The SVG holds
each line of the screen once and is a film of them, without scripts, so that a README can show it; a program that
draws no animation shows its last picture.
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

FORMS = (".svg", ".cast")
"""What a file's name may end with."""
_SCREEN = (120, 34)
"""Columns and lines."""
_TYPING_SECONDS = 0.12
"""Between two words."""
_LOOK_SECONDS = 0.08
"""Between two looks at the screen while it changes."""
_PAUSE_SECONDS = 1.5
"""The longest wait that is shown; a model may take longer."""
_READING_SECONDS = 4.0
"""How long an answer stands."""
_LINE_HEIGHT = 24.4
"""Of Rich's pictures, in pixels."""
_RECT = re.compile(r'<rect fill="([^"]+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"[^>]*/>')
_TEXT = re.compile(r'<text class="[^"]*-(r\d+)" x="([\d.]+)" y="([\d.]+)" textLength="([\d.]+)"[^>]*>([^<]*)</text>')
_STYLE = re.compile(r"-(r\d+) \{ ([^}]*) \}")
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_BACK = re.compile(r'<rect fill="([^"]+)" stroke=')


async def record(context: AppContext, questions: Sequence[str], form: str) -> tuple[str, bool]:
    """Ask questions in the app, on no terminal; return what it showed, and whether all were answered.

    Args:
        context: Document, model and looks.
        questions: In their order.
        form: One of `FORMS`.
    """
    app, tape = RoamApp(context), _Recording(monotonic(), form == ".svg")
    title = f"roamtui {display_path(context.agent.session.state.library.source)}"

    class TapeDriver(HeadlessDriver):
        """A terminal of which only the tape sees what is written."""

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
    app.main_screen.question_box.cursor_blink = False
    await app.run_async(size=_SCREEN, auto_pilot=play)
    exchanges = app.main_screen.session.state.transcript.exchanges
    wanted = (StopReason.ANSWERED, StopReason.NOT_FOUND)
    is_answered = len(exchanges) == len(questions) and all(exchange.stopped in wanted for exchange in exchanges)
    return (_write_svg(tape, title) if form == ".svg" else _write_cast(tape, title)), is_answered


@dataclass(frozen=True, slots=True)
class _Recording:
    """What was shown, with the seconds since it began."""

    start: float
    is_film: bool
    """Whether pictures are kept of what was shown."""
    output: list[tuple[float, str]] = field(default_factory=list)
    """What the app wrote to its terminal."""
    frames: list[tuple[float, str]] = field(default_factory=list)
    """Each screen that differs from the one before, as an SVG of Rich's."""

    def capture(self, app: RoamApp) -> None:
        """Keep the screen as it is now."""
        picture = app.export_screenshot(title="") if self.is_film else ""
        if picture and (not self.frames or picture != self.frames[-1][1]):
            self.frames.append((monotonic() - self.start, picture))


async def _ask(app: RoamApp, pilot: Pilot[Any], question: str, tape: _Recording) -> None:
    """Type a question, and look on until its answer has stood for a while."""
    words = question.split()
    for end in range(len(words) + 1):
        app.main_screen.question_box.fill(" ".join(words[:end]))
        await pilot.pause(_TYPING_SECONDS)
        tape.capture(app)
    count = len(app.main_screen.session.state.transcript.exchanges)
    await pilot.press("enter")
    answered: float | None = None
    while answered is None or monotonic() - answered < _PAUSE_SECONDS:
        await asyncio.sleep(_LOOK_SECONDS)
        tape.capture(app)
        exchanges = app.main_screen.session.state.transcript.exchanges
        if answered is None and len(exchanges) > count and exchanges[-1].stopped is not None:
            answered = monotonic()


def _write_cast(tape: _Recording, title: str) -> str:
    """Return an asciicast."""
    columns, lines_shown = _SCREEN
    header = {"version": 2, "width": columns, "height": lines_shown, "title": title, "idle_time_limit": _PAUSE_SECONDS}
    lines = [header, *([round(moment, 3), "o", data] for moment, data in tape.output)]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _write_svg(tape: _Recording, title: str) -> str:
    """Return a film: each frame lies to the right of the one before, and is moved into view when its time comes."""
    styles: dict[str, str] = {}
    lines: dict[str, str] = {}
    frames = [_read_frame(picture, styles, lines) for _, picture in tape.frames]
    frames = [frames[-1], *frames[:-1]]
    first = tape.frames[0][1]
    size, back = _SIZE.search(first), _BACK.search(first)
    assert size is not None
    assert back is not None
    width, height = float(size[1]), float(size[2])
    shown = [
        f'<use href="#{name}" x="{number * width:g}" y="{line * _LINE_HEIGHT:g}"/>'
        for number, frame in enumerate(frames)
        for line, name in sorted(frame.items())
    ]
    moments = [moment for moment, _ in tape.frames]
    stands = [min(after - before, _PAUSE_SECONDS) for before, after in pairwise(moments)] + [_READING_SECONDS]
    seconds, begun, keys = sum(stands), 0.0, []
    for number, stand in enumerate(stands, 1):
        place = number % len(stands)  # the last picture lies at the left end
        keys.append(f"{100 * begun / seconds:.3f}% {{ transform: translateX({-place * width:g}px); }}")
        begun += stand
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
<rect fill="{back[1]}" width="{width:g}" height="{height:g}" rx="8"/>
<g transform="translate(26,22)">
<circle r="7" fill="#ff5f57"/><circle cx="22" r="7" fill="#febc2e"/><circle cx="44" r="7" fill="#28c840"/>
</g>
<text x="{width / 2:g}" y="27" text-anchor="middle" fill="#c5c8c6">{escape(title)}</text>
<svg x="9" y="41" width="{width - 18:g}" height="{height - 50:g}"><g id="film">{"".join(shown)}</g></svg>
</svg>
"""


def _read_frame(picture: str, styles: dict[str, str], lines: dict[str, str]) -> Mapping[int, str]:
    """Return the name of what each line of the screen shows; new styles and contents get a name of their own."""
    own = {name: styles.setdefault(css, f"s{len(styles)}") for name, css in _STYLE.findall(picture)}
    contents: dict[int, list[str]] = {}
    for fill, x, y, width in _RECT.findall(picture):
        place = f'x="{float(x):g}" width="{float(width):g}" height="24.65"'
        contents.setdefault(int(float(y) / _LINE_HEIGHT), []).append(f'<rect fill="{fill}" {place}/>')
    for style, x, y, length, text in _TEXT.findall(picture):
        shown = unescape(text).replace("\u00a0", " ")
        words, width = shown.strip(), float(length) / max(1, len(shown))
        # Without blanks at its ends: not every program that draws SVG keeps room for them.
        left = float(x) + width * (len(shown) - len(shown.lstrip()))
        place = f'x="{left:g}" y="18.5" textLength="{width * cell_len(words):g}"'
        run = f'<text class="{own[style]}" {place}>{escape(words)}</text>' if words else ""
        contents.setdefault(int((float(y) - 20) / _LINE_HEIGHT + 0.5), []).append(run)
    return {line: lines.setdefault("".join(content), f"l{len(lines)}") for line, content in contents.items()}
