"""One question to the whole agent, in a conversation of its own, and what it did into a score."""

from __future__ import annotations

import time
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from roamtui.agent.answer import count_verified
from roamtui.agent.events import QuestionAnswered
from roamtui.agent.loop import Agent
from roamtui.conversation.events import ExpandStatus, SectionsExpanded
from roamtui.conversation.session import Session
from roamtui.conversation.transcript import Exchange, Stopped, Transcript
from roamtui.evaluation.rows import AgentScore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roamtui.agent.options import AgentOptions
    from roamtui.document.library import Library
    from roamtui.evaluation.golds import GoldIds
    from roamtui.evaluation.questions import EvalQuestion, Turn
    from roamtui.models.base import Model
    from roamtui.search.base import Searcher

_OPENED = (ExpandStatus.OPENED, ExpandStatus.ALREADY_OPEN)


async def ask_agent(
    question: EvalQuestion,
    library: Library,
    searcher: Searcher | None,
    model: Model,
    golds: GoldIds,
    options: AgentOptions | None = None,
) -> AgentScore:
    """Ask a question, with what was said before it, and return what became of it."""
    session = Session.start(library)
    exchanges = make_exchanges(question.history)
    if exchanges:
        session = Session(replace(session.state, transcript=Transcript(exchanges=exchanges)))
    agent = Agent(session, model, searcher, options)
    opened: dict[str, None] = {}
    tokens = 0
    final: QuestionAnswered | None = None
    started = time.perf_counter()
    async with aclosing(agent.ask(question.question)) as events:  # type: ignore[type-var]
        async for event in events:
            if isinstance(event, SectionsExpanded):
                opened |= dict.fromkeys(r.section_id for r in event.results if r.section_id and r.status in _OPENED)
                tokens += sum(result.tokens for result in event.results)
            elif isinstance(event, QuestionAnswered):
                final = event
    assert final is not None
    cited = {citation.section_id for citation in final.citations}
    verified, quotes = count_verified(final.citations)
    return AgentScore(
        gold_opened=not golds.strict.isdisjoint(opened),
        gold_cited=not golds.strict.isdisjoint(cited),
        relaxed_opened=not golds.relaxed.isdisjoint(opened),
        relaxed_cited=not golds.relaxed.isdisjoint(cited),
        quotes=quotes,
        verified=verified,
        opened=len(opened),
        tokens=tokens,
        steps=final.steps,
        seconds=round(time.perf_counter() - started, 3),
        stopped=final.stopped.value,
        error=final.error if final.stopped in (Stopped.ERROR, Stopped.COST) else "",
    )


def make_exchanges(history: Sequence[Turn]) -> tuple[Exchange, ...]:
    """Return what was said before as exchanges; several turns of one speaker become one."""
    pairs: list[tuple[list[str], list[str]]] = []
    for turn in history:
        if (turn.is_user and (not pairs or pairs[-1][1])) or not pairs:
            pairs.append(([], []))
        pairs[-1][0 if turn.is_user else 1].append(turn.text)
    return tuple(
        Exchange(number=number, question="\n".join(said), answer="\n".join(answered), stopped=Stopped.ANSWERED)
        for number, (said, answered) in enumerate(pairs, start=1)
    )
