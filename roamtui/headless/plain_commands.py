"""Commands of the plain chat: a line that begins with a slash."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice

from roamtui.agent.loop import Agent
from roamtui.conversation.commands import (
    CollapseSections,
    Command,
    ExpandSections,
    Origin,
    PinSections,
    ReadSection,
    UnfoldNodes,
)
from roamtui.conversation.narration import write_lines
from roamtui.conversation.state import ConversationState
from roamtui.document.build import can_load
from roamtui.document.library import Library
from roamtui.document.plain import plain_line, plain_text
from roamtui.errors import RoamtuiError
from roamtui.headless.sections import list_hits
from roamtui.models.base import Model
from roamtui.models.choose import find_usable_models
from roamtui.outline.labels import WHOLE_TOKENS_MAX, describe_size, name_node, name_path
from roamtui.outline.structure import LISTED_MAX, Ranges, Reference, find_nearest, parse_reference

_SEPARATORS = re.compile(r"[\s,]+")
_HITS_MAX = 10
_TITLED_MAX = 10
LEAVE = ("/quit", "/exit")
"""Commands that end the chat."""


@dataclass(frozen=True, slots=True)
class PlainCommand:
    """One command."""

    usage: str
    help: str
    run: Callable[[PlainContext, str], Awaitable[str]]
    """Takes what follows the command's name; returns what is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainContext:
    """What a plain chat is started with, and its commands act on."""

    agent: Agent
    choose_model: Callable[[str], Model]
    """Makes the model with a name."""
    notes: tuple[str, ...] = ()
    """Sentences to tell at the start, such as what was replaced while reading the document."""
    examples: tuple[str, ...] = ()
    """Questions to propose."""
    remember: Callable[[str], str] | None = None
    """Writes down a preference and says where; None where there is no such place."""


async def run_plain_command(context: PlainContext, line: str) -> str:
    """Carry out a line that begins with a slash, and return what to tell; what a person did wrong is told too."""
    name, _, rest = line.strip().partition(" ")
    command = COMMANDS.get(name.lower())
    if command is None:
        return f"There is no command {name}. /help lists them; a space before the slash makes the line a question."
    try:
        return await command.run(context, rest.strip())
    except RoamtuiError as error:
        return str(error)


def _find_sections(agent: Agent, text: str) -> tuple[list[str], list[str]]:
    """Return the sections that are named by ids or a title, and a sentence for each name of none."""
    library = agent.session.state.library
    titled = _find_titled(library, text)
    if titled:
        return ([titled[0]], []) if len(titled) == 1 else ([], [_describe_titled(library, titled)])
    found: list[str] = []
    problems: list[str] = []
    for word in filter(None, _SEPARATORS.split(text)):
        reference = parse_reference(word)
        if reference is None or reference.section_id not in library:
            problems.append(_describe_unknown(library, word))
        else:
            found.append(reference.section_id)
    if not found and not problems:
        problems.append("Name a section by its id or its whole title: /outline and /search show them.")
    return list(dict.fromkeys(found)), problems


async def _dispatch(agent: Agent, command: Command) -> list[str]:
    session = agent.session
    return [line async for event in session.dispatch(command) for line in write_lines(event, session.state.library)]


async def _change(context: PlainContext, text: str, make: Callable[..., Command]) -> str:
    """Carry out the command that is made for the sections that are named."""
    ids, told = _find_sections(context.agent, text)
    if ids:
        told += await _dispatch(context.agent, make(section_ids=tuple(ids)))
    return "\n".join(told)


async def _pin(context: PlainContext, text: str) -> str:
    def make(section_ids: tuple[str, ...]) -> Command:
        found = [context.agent.session.state.find_open(section_id) for section_id in section_ids]
        are_pinned = all(section is not None and section.is_pinned for section in found)
        return PinSections(section_ids=section_ids, is_pinned=not are_pinned)

    return await _change(context, text, make)


async def _read(context: PlainContext, text: str) -> str:
    ids, told = _find_sections(context.agent, text)
    for section_id in ids:
        told += await _dispatch(context.agent, ReadSection(section_id=section_id))
        told.append(_describe_text(context.agent.session.state.library, section_id))
    return "\n".join(told)


async def _outline(context: PlainContext, text: str) -> str:
    session = context.agent.session
    reference = parse_reference(text)
    told: list[str] = []
    if reference is not None and can_load(session.state.library, reference.section_id):
        told = await _dispatch(context.agent, UnfoldNodes(section_ids=(reference.section_id,)))
    return "\n".join((*told, _describe_children(session.state, text)))


async def _search(context: PlainContext, text: str) -> str:
    searcher = context.agent.searcher
    if searcher is None:
        return "Search is off. Set retrieval.mode in config.toml to keyword."
    if not text:
        return "Say what to search for: /search late fee"
    hits = searcher.search(text, limit=_HITS_MAX)
    return list_hits(context.agent.session.state.library, hits) if hits else "Nothing found. Try other words."


async def _choose_model(context: PlainContext, name: str) -> str:
    agent = context.agent
    if not name:
        offers = [f"{offer.name}: {offer.note}" for offer in find_usable_models()]
        return "\n".join((f"{agent.model.name} answers. Usable here:", *offers))
    before = agent.model
    agent.model = context.choose_model(name)
    await before.close()
    return f"{agent.model.name} answers from now on."


async def _help(_context: PlainContext, _text: str) -> str:
    lines = [f"{command.usage}: {command.help}" for command in COMMANDS.values()]
    return "\n".join((_FIRST_HELP, *lines, "/quit: Leave; ctrl+d does too.", _CANCEL))


async def _remember(context: PlainContext, text: str) -> str:
    if context.remember is None:
        return "Preferences cannot be kept here."
    return context.remember(text) if text else "Say what to remember, such as: /remember Answer in German."


def _find_titled(library: Library, text: str) -> tuple[str, ...]:
    """Return the ids of up to ten sections with exactly this title, whatever its case."""
    wanted = plain_line(text).strip("\"'“” ").casefold()
    named = (section_id for section_id in library.walk() if library.title_of(section_id).casefold() == wanted)
    return tuple(islice(named, _TITLED_MAX)) if wanted else ()


def _describe_titled(library: Library, section_ids: tuple[str, ...]) -> str:
    """Return the sections with one title, so that a person can name one by its id."""
    lines = [f"- [{section_id}] {name_path(library, section_id)}" for section_id in section_ids]
    return "\n".join(("Several sections have this title; name one by its id:", *lines))


def _describe_children(state: ConversationState, text: str) -> str:
    """Return a line for each section directly below a node, in ranges where there are too many for one page.

    Args:
        state: The library that is outlined, and what of it is open.
        text: An id, a range such as ``07f3277d:c2``, a title that only one section has, or nothing for the top.
    """
    library = state.library
    title_id = library.title_id()
    reference = parse_reference(text) if text.strip() else Reference(section_id=title_id or library.root_id)
    if reference is None and (titled := _find_titled(library, text)):
        if len(titled) > 1:
            return _describe_titled(library, titled)
        reference = Reference(section_id=titled[0])
    if reference is None or (reference.section_id != library.root_id and reference.section_id not in library):
        return _describe_unknown(library, text)
    ranges = Ranges.of(library, reference.section_id)
    children, bounds = ranges.children, ranges.find(reference.steps)
    if bounds is None:
        return f"There is no range {text.strip()}."
    head = library.title if reference.section_id == library.root_id else _describe_node(state, reference.section_id)
    if not children:
        return f"{head}\nNothing lies below it."
    listed = children[slice(*bounds)]
    if len(listed) > LISTED_MAX:
        return "\n".join((head, *ranges.describe(reference.section_id, reference.steps)))
    return "\n".join((head, *(f"- {_describe_node(state, section_id)}" for section_id in listed)))


def _describe_text(library: Library, section_id: str) -> str:
    """Return the text of a section, with all below it where that is short, else with a word on what lies below."""
    node = library.node(section_id)
    if node.tokens <= WHOLE_TOKENS_MAX or not node.descendants:
        return plain_text(library.text_at(library.shown_span(section_id))).rstrip()
    count = f"{node.descendants} section{'' if node.descendants == 1 else 's'}"
    own = plain_text(library.text_at(library.shown_own_span(section_id))).rstrip()
    return f"{own}\n\n(Below it: {count}. /outline {section_id} lists them.)"


async def _list_open(context: PlainContext, _text: str) -> str:
    """Return a line for each open section: where it stands, who opened it, whether it is pinned."""
    state = context.agent.session.state
    if not state.open:
        return "No section is open."
    lines = []
    for section in state.open:
        marks = ["opened by you" if section.opened_by is Origin.PERSON else "opened by the model"]
        marks += ["pinned"] if section.is_pinned else []
        marks += ["the model gets its text with your next question"] if not section.deliveries else []
        lines.append(f"[{section.section_id}] {name_path(state.library, section.section_id)}, {', '.join(marks)}")
    lines.append(f"{len(lines)} open, ~{state.open_tokens:,} tokens")
    return "\n".join(lines)


def _describe_unknown(library: Library, text: str) -> str:
    """Return that an id names nothing, with the sections that may have been meant."""
    nearest = [f"[{section_id}] {library.title_of(section_id)}" for section_id in find_nearest(library, text)]
    meant = f" Did you mean {', '.join(nearest)}?" if nearest else ""
    return f'There is no section "{text.strip()}".{meant}'


def _describe_node(state: ConversationState, section_id: str) -> str:
    node = state.library.node(section_id)
    found = state.find_open(section_id)
    mark = "" if found is None else ", open and pinned" if found.is_pinned else ", open"
    return f"[{section_id}] {name_node(node)} ({describe_size(state.library, node)}{mark})"


_open = partial(_change, make=partial(ExpandSections, origin=Origin.PERSON))
_close = partial(_change, make=partial(CollapseSections, origin=Origin.PERSON))
_FIRST_HELP = "Any other line is a question. For an ID a whole title does, too."
_CANCEL = "ctrl+c stops the answer that is under way; what came so far is kept."
_COMMANDS = (
    PlainCommand("/outline [ID]", "List the sections at the top, or those below one.", _outline),
    PlainCommand("/read ID", "Show the text of a section. Reading costs nothing.", _read),
    PlainCommand("/search WORDS", "Find sections.", _search),
    PlainCommand("/open ID...", "Open sections: the model gets their text with your next question.", _open),
    PlainCommand("/close ID...", "Close sections: the model forgets their text.", _close),
    PlainCommand("/pin ID...", "Keep sections open whatever happens; once more lets go of them.", _pin),
    PlainCommand("/sections", "List what is open.", _list_open),
    PlainCommand("/model [NAME]", "Say which model answers, or choose another.", _choose_model),
    PlainCommand("/remember TEXT", "Write down how you want to be answered, for every conversation.", _remember),
    PlainCommand("/help", "List the commands.", _help),
)
COMMANDS = {command.usage.partition(" ")[0]: command for command in _COMMANDS}
