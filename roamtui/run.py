"""Runs a command: builds what it needs from settings and arguments, and hands over."""

from __future__ import annotations

import gc
from typing import assert_never

from roamtui.command_arguments import (
    AskArguments,
    CacheArguments,
    CommandArguments,
    ConversationsArguments,
    DoctorArguments,
    EvalArguments,
    IndexArguments,
    McpArguments,
    OutlineArguments,
    PreferencesArguments,
    SearchArguments,
    ServeArguments,
    ShowArguments,
)
from roamtui.errors import UsageError
from roamtui.headless.output import write_notes
from roamtui.libraries import attach_remote_summaries, open_library, open_pages, open_partly
from roamtui.locations import (
    cache_path,
    config_path,
    conversions_path,
    data_path,
    indexes_path,
    pages_path,
    preferences_path,
)
from roamtui.outline.budget import OUTLINE_TOKENS_MAX
from roamtui.outline.ranges import parse_reference
from roamtui.settings import Settings, load_settings

_WithModels = AskArguments | SearchArguments | IndexArguments | EvalArguments | ServeArguments | McpArguments


def run_command(arguments: CommandArguments) -> int:  # noqa: PLR0911 - one case a command
    """Carry out one command and return the exit status.

    Raises:
        RoamtuiError: It failed; the message is for the person.
    """
    if isinstance(arguments, _WithModels):
        return _run_with_models(arguments)
    gc.enable()
    match arguments:
        case OutlineArguments():
            return _run_outline(arguments)
        case ShowArguments():
            return _run_show(arguments)
        case ConversationsArguments():
            return _run_conversations(arguments)
        case CacheArguments():
            return _run_cache(arguments)
        case PreferencesArguments():
            return _run_preferences(arguments)
        case DoctorArguments():
            return _run_doctor(arguments)
        case _:
            assert_never(arguments)


def _run_with_models(arguments: _WithModels) -> int:
    from roamtui.run_asking import run_ask, run_eval, run_mcp, run_search, run_serve  # noqa: PLC0415 - loads much
    from roamtui.run_index import run_index  # noqa: PLC0415 - likewise

    gc.enable()
    if isinstance(arguments, ServeArguments):
        return run_serve(arguments)
    settings = _load_settings().retrieve_with(arguments.retrieval)
    match arguments:
        case AskArguments():
            return run_ask(arguments, settings)
        case SearchArguments():
            return run_search(arguments, settings)
        case IndexArguments():
            return run_index(arguments, settings)
        case EvalArguments():
            return run_eval(arguments, settings)
        case McpArguments():
            return run_mcp(arguments, settings)
        case _:
            assert_never(arguments)


def _load_settings() -> Settings:
    """Return the settings, and tell what of the file was passed over."""
    settings = load_settings()
    write_notes(settings.notes)
    return settings


def _run_outline(arguments: OutlineArguments) -> int:
    from roamtui.headless.sections import print_outline, print_outline_json  # noqa: PLC0415 - each command its own

    library = open_library(arguments.sources, arguments.web)
    library = attach_remote_summaries(library, _load_settings().retrieval.index)
    write_notes(library.notes)
    if arguments.as_json:
        print_outline_json(library)
    else:
        print_outline(library, budget_tokens=arguments.budget_tokens or OUTLINE_TOKENS_MAX)
    return 0


def _run_show(arguments: ShowArguments) -> int:
    from roamtui.headless.sections import print_sections  # noqa: PLC0415 - each command its own

    library, loader = open_partly((arguments.source,), is_whole=True, web=arguments.web)
    write_notes(library.notes)
    if loader is not None:
        told = library.notes
        references = filter(None, map(parse_reference, arguments.section_ids))
        library = open_pages(library, loader, [reference.section_id for reference in references])
        write_notes(note for page in library.documents for note in page.notes if note not in told)
    print_sections(library, arguments.section_ids)
    return 0


def _run_conversations(arguments: ConversationsArguments) -> int:
    from roamtui.conversation.store import Store  # noqa: PLC0415 - each command its own
    from roamtui.headless.conversations import print_conversation, print_list  # noqa: PLC0415 - likewise

    store = Store(data_path())
    write_notes(store.take_reports())
    if arguments.conversation_id is None:
        print_list(store, as_json=arguments.as_json)
    elif arguments.action == "delete":
        store.delete(arguments.conversation_id)
        write_notes((f"Deleted {arguments.conversation_id}.", *store.take_reports()))
    else:
        print_conversation(store, arguments.conversation_id, as_json=arguments.as_json)
    return 0


def _run_cache(arguments: CacheArguments) -> int:
    from roamtui.headless.cache import CacheFolders, run_cache  # noqa: PLC0415 - each command its own

    folders = CacheFolders(pages=pages_path(), converted=conversions_path(), indexes=indexes_path())
    return run_cache(folders, arguments.action, as_json=arguments.as_json)


def _run_preferences(arguments: PreferencesArguments) -> int:
    from roamtui.headless.preferences import edit_preferences, print_preferences  # noqa: PLC0415 - each its own

    if arguments.is_editing:
        edit_preferences(preferences_path())
    else:
        print_preferences(preferences_path())
    return 0


def _run_doctor(arguments: DoctorArguments) -> int:
    from roamtui.headless.doctor import diagnose, print_diagnosis, print_diagnosis_json  # noqa: PLC0415 - its own

    options = None
    try:
        settings = load_settings()
        problem = " ".join(settings.notes)
        options = settings.model_options(arguments.model.model or "")
    except UsageError as error:
        problem = str(error)
    places = {"settings": config_path(), "conversations": data_path(), "cache": cache_path()}
    diagnosis = diagnose(
        places, problem, arguments.model.model, api_base=arguments.model.api_base, model_options=options
    )
    if arguments.as_json:
        print_diagnosis_json(diagnosis)
    else:
        print_diagnosis(diagnosis)
    return 0 if diagnosis.is_fine else 1
