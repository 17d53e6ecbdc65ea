"""Words for the screen: the paths of nodes, and failures."""

from roamtui.document.library import Library
from roamtui.errors import RoamtuiError, format_file_error
from roamtui.models.base import replace_flags
from roamtui.outline.labels import PATH_STEP, list_titles
from roamtui.program import qualify_commands
from roamtui.sanitiser import mask_logins, sanitise_line
from roamtui.tui.actions import Keymap


def format_full_path(library: Library, section_id: str) -> str:
    """Return the path of a node, or a placeholder if the library no longer has it."""
    if section_id not in library:
        return f"unknown section {sanitise_line(section_id)}"
    return PATH_STEP.join(list_full_path(library, section_id))


def list_full_path(library: Library, section_id: str) -> tuple[str, ...]:
    """List the titles down to a node, but not the document's own title, which the header shows."""
    titles = list_titles(library, section_id)
    has_title = library.title_id in library.node(section_id).ancestors
    return tuple(titles[has_title:] or titles)


def format_ancestors(library: Library, section_id: str | None) -> str:
    """Return the path of a node's ancestors, or an empty string if the id is None."""
    ancestors = () if section_id is None else library.node(section_id).ancestors
    above = [node_id for node_id in ancestors if node_id != library.title_id]
    return format_full_path(library, above[-1]) if above else ""


def format_error(error: BaseException | None, keys: Keymap | None = None) -> str:
    """Return a failure in one sentence. The message of a `RoamtuiError` is a sentence already."""
    if isinstance(error, RoamtuiError):
        return adapt_flags(str(error), keys)
    if isinstance(error, OSError):
        return format_file_error(error)
    reason = f"{type(error).__name__}: {mask_logins(str(error))}"
    return f"Internal error ({reason}). Nothing saved was lost. Try again."


def adapt_flags(words: str, keys: Keymap | None = None, place: str = "") -> str:
    """Replace flags in an error by what a person can do in the app: press the key that chooses a model.

    If no key does, name the command. `place` is added to say where the key works, if that is not here.
    """
    bound = keys.get_bound(["global.choose_model"]) if keys else []
    model = bound[0].key_names[0] if bound else "“Model” in the list of commands"
    return qualify_commands(replace_flags(words, model=model + place, server="the server's URL (--api-base)"))
