"""Takes the README's picture: the app, the example handbook, one question and its answer: `make docs`.

The picture is an SVG of the very screen, with the offline model, so that it is the same on every machine.
"""

from __future__ import annotations

import asyncio
import re
import sys
from dataclasses import replace
from html import escape, unescape
from pathlib import Path

from rich.cells import cell_len

from roamtui.agent.examples import propose_questions
from roamtui.agent.loop import Agent
from roamtui.conversation.session import Session
from roamtui.document.build import build_library
from roamtui.models.offline.model import OfflineModel
from roamtui.search.keyword import KeywordSearcher
from roamtui.sources.read import read_file
from roamtui.tui.app import RoamApp
from roamtui.tui.context import AppContext, TuiOptions

_PROJECT = Path(__file__).resolve().parents[1]
_QUESTION = "How long is the grace period for a late bicycle?"
_SIZE = (132, 36)
_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_RUN = re.compile(r'(<text class="[^"]*") x="([\d.]+)" (y="[\d.]+") textLength="([\d.]+)"([^>]*)>([^<]*)</text>')
_BLANK = "&#160;"
_SIZES = ("font-size: 20px", "font-size: 20.26px")
"""At the second one, the letters of usual fonts are as wide as the cells, also where `textLength` is not known."""
_PAUSES_MAX = 2_000


async def take_screenshot() -> str:
    """Return the screen after the question as SVG, with the fonts of the reader's own machine."""
    handbook = read_file(_PROJECT / "examples" / "handbook.md")
    library = build_library(replace(handbook, source="examples/handbook.md"))
    agent = Agent(Session.start(library), OfflineModel(), KeywordSearcher(library))
    app = RoamApp(AppContext(agent=agent, options=TuiOptions(examples=propose_questions(library))))
    app.animation_level = "none"
    async with app.run_test(size=_SIZE) as pilot:
        app.main.question_box.cursor_blink = False
        app.main.question_box.fill(_QUESTION)
        await pilot.press("enter")
        for _ in range(_PAUSES_MAX):
            await pilot.pause()
            exchanges = agent.session.state.transcript.exchanges
            if exchanges and exchanges[-1].stopped is not None:
                break
        await pilot.pause()
        picture = app.export_screenshot(title="roamtui examples/handbook.md")
    return _RUN.sub(_trim_run, _FONT.sub("", picture)).replace(*_SIZES)


def _trim_run(run: re.Match[str]) -> str:
    """Return a run of text without blanks at its ends, since not every program that draws SVG keeps room for them."""
    lead, x, y, length, attributes, text = run.groups()
    plain = unescape(text)
    words = plain.strip()
    if not words:
        return ""
    width = float(length) / cell_len(plain)
    left = float(x) + width * (len(plain) - len(plain.lstrip()))
    size = f'x="{left:g}" {y} textLength="{width * cell_len(words):g}"'
    shown = escape(words).replace("\u00a0", _BLANK)
    return f"{lead} {size}{attributes}>{shown}</text>"


def main() -> int:
    """Write the picture."""
    path = _PROJECT / "docs" / "screenshot.svg"
    path.write_text(asyncio.run(take_screenshot()), "utf-8")
    sys.stdout.write(f"Wrote {path.relative_to(_PROJECT)}.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
