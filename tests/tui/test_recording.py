"""Recordings: what they show is what the app showed, and a document can put nothing else into them."""

from __future__ import annotations

import json
import re

from lxml import etree

from roamtui.tui.recording import record
from tests.fakes.scripted_model import ScriptedReply
from tests.tui.driving import expand, find_id, make_app, make_context

_QUESTION = "How long must the stone oven rest?"
_QUOTE = "must rest for one hour"


def _make_replies() -> tuple[ScriptedReply, ...]:
    stone = find_id(make_app(), "Stone oven")
    return expand(stone), ScriptedReply(text=f'One hour: "It {_QUOTE} after each batch" [{stone}]. <script>&')


async def test_a_film_ends_with_the_answer_and_loads_nothing() -> None:
    text, is_answered = await record(make_context(_make_replies()), [_QUESTION], ".svg")
    film = etree.fromstring(text.encode())
    assert is_answered
    assert not {etree.QName(element).localname for element in film.iter()} & {"script", "image", "foreignObject", "a"}
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    lines = {element.get("id"): "".join(element.itertext()) for element in film.iter("{*}g") if element.get("id")}
    frames: dict[int, str] = {}
    width = float(film.get("viewBox").split()[2])
    for use in film.iter("{*}use"):
        frame = round(float(use.get("x")) / width)
        frames[frame] = frames.get(frame, "") + lines[use.get("href")[1:]] + "\n"
    assert _QUOTE in frames[0]  # where nothing moves, the answer is shown
    assert _QUOTE not in frames[1]
    assert len(frames) == len(re.findall(r"[\d.]+% \{", text))


async def test_a_cast_is_what_a_terminal_got() -> None:
    text, is_answered = await record(make_context(_make_replies()), [_QUESTION], ".cast")
    header, *lines = map(json.loads, text.splitlines())
    assert is_answered
    assert header["version"] == 2
    assert [moment for moment, _, _ in lines] == sorted(moment for moment, _, _ in lines)
    assert "\\u001b[38;2;" in text, "the same colours whatever terminal this runs in"
    shown = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", "".join(data for _, _, data in lines))
    assert _QUOTE in shown


async def test_a_question_without_an_answer_is_told() -> None:
    _, is_answered = await record(make_context(()), [_QUESTION], ".cast")
    assert not is_answered
