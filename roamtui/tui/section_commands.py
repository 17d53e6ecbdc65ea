"""The commands behind the keys of a section."""

from roamtui.conversation.events import Origin
from roamtui.conversation.state import ConversationState
from roamtui.conversation.update import CloseSections, Command, FoldNodes, OpenSections, PinSections


def make_section_command(name: str, state: ConversationState, section_id: str) -> Command | str:
    """Return a command on a section, words that say why there is none, or "" if all is unfolded already."""
    section = state.open_sections.get(section_id)
    library = state.library
    is_loaded = section_id in library and library.node(section_id).is_loaded
    match name:
        case "open":
            command: Command | str = OpenSections(section_ids=(section_id,), origin=Origin.PERSON)
        case "close" if section is None:
            command = "Section is not open"
        case "close" if section is not None and section.is_pinned:
            command = "Section is pinned. Unpin it first"
        case "close":
            command = CloseSections(section_ids=(section_id,), origin=Origin.PERSON)
        case "pin":
            is_pinned = section is not None and section.is_pinned
            command = PinSections(section_ids=(section_id,), is_pinned=not is_pinned)
        case "fold" if is_loaded and not library.children(section_id):
            command = "No section below it to unfold"
        case "fold":
            command = FoldNodes(section_ids=(section_id,), is_folded=section_id in state.unfolded)
        case "unfold_all":
            parent_ids = (section_id, *filter(library.children, library.walk(section_id)))
            command = make_unfold_command(state, *dict.fromkeys(parent_ids))
        case _:
            raise ValueError(name)
    return command


def make_unfold_command(state: ConversationState, *section_ids: str) -> Command | str:
    """Return the command that unfolds the folded nodes, or an empty string if none is folded."""
    folded = tuple(section_id for section_id in section_ids if section_id not in state.unfolded)
    return FoldNodes(section_ids=folded, is_folded=False) if folded else ""
