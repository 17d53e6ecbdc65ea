"""The proof of an answer in its Markdown: which words belong to which quote, and what stands for a mark."""

from collections.abc import Sequence

import pytest

from roamtui.conversation.state import ConversationState
from roamtui.markdown.blocks import (
    HARD_BREAK_WORDS,
    Block,
    BlockQuote,
    Code,
    Heading,
    Inline,
    List,
    Markdown,
    Paragraph,
    Table,
    ThematicBreak,
    Words,
)
from roamtui.quotes.verdicts import QuoteChecker, make_proof
from roamtui.sanitiser import sanitise_text
from tests.agent.asking import MANUAL
from tests.case_files import read_rows
from tests.conversation.conversations import begin, expand_by_agent, find, make_state

STATE = expand_by_agent(begin(make_state(MANUAL)), "Fees", "Hours")[0]
FEES, HOURS = (find(STATE, title) for title in ("Fees", "Hours"))


def flatten_blocks(blocks: Sequence[Block]) -> Inline:
    """Return the words of all blocks, with a line for each of them and for each cell."""
    lines: list[Inline] = []
    for block in blocks:
        match block:
            case Paragraph() | Heading():
                lines.append(block.words)
            case Code():
                lines.append((Words(block.text),))
            case Table():
                lines += (cell for row in block.rows for cell in row.cells)
            case List():
                lines += (flatten_blocks(item.blocks) for item in block.items)
            case BlockQuote():
                lines += (block.title, flatten_blocks(block.blocks))
            case ThematicBreak():
                pass
    return tuple(words for line in lines if line for words in (HARD_BREAK_WORDS, *line))[1:]


def read(answer: str, state: ConversationState = STATE) -> Markdown:
    answer = answer.replace("{Fees}", FEES).replace("{Hours}", HOURS)
    return make_proof(answer, QuoteChecker(state).list_citations(answer), state.library).markdown


def show(markdown: Markdown) -> str:
    """Return all words, those of quotes between braces."""
    shown, group = "", None
    for words in flatten_blocks(markdown.blocks):
        shown += ("}" if group is not None else "") * (words.group != group)
        shown += ("{" if words.group is not None else "") * (words.group != group)
        group = words.group
        shown += sanitise_text(words.text)
    return shown + ("}" if group is not None else "")


@pytest.mark.parametrize(("answer", "shown"), read_rows("quotes/proof", "parsing"))
def test_quotes_and_marks_are_found_again_after_parsing(answer: str, shown: str) -> None:
    assert show(read(answer)) == shown
