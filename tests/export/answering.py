"""A conversation whose one answer has every verdict, and the numbers and signs that each front end must show."""

import asyncio

from roamtui.conversation.state import ConversationState
from tests.agent.asking import ask, expanding, ids, make_agent, model_of, saying

ANSWER = (
    'It costs "2 euros a day" [{Fees}], and "9 dollars" [{Fees}].\n\n'
    '- Elsewhere: "Open daily" [{Lost books}].\n'
    '- Of two sentences: "Books can … for more" [{Lending}].\n\n'
    "See [{Hours}]. In code: `x[{Hours}]`."
)
LABELS = ["[1 ✓]", "[2 ✗]", "[3 !]", "[4 ✗]", "[5]"]


def answer_question(answer: str = ANSWER) -> ConversationState:
    """Return a conversation in which a model read three sections of a manual, and answered."""
    agent = make_agent()
    titles = ("Lending", "Fees", "Lost books", "Hours")
    for title, section_id in zip(titles, ids(agent, *titles), strict=True):
        answer = answer.replace(f"{{{title}}}", section_id)
    model_of(agent).add_replies(expanding(*ids(agent, *titles)), saying(answer), saying(answer))
    asyncio.run(ask(agent))
    return agent.conversation.state
