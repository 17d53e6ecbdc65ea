"""`roamtui mcp` and `doctor`: serve other programs, and inspect this machine."""

from __future__ import annotations

from argparse import Namespace
from functools import partial

from roamtui.commands.arguments import (
    Command,
    add_model_arguments,
    add_reading_arguments,
    add_search_arguments,
    add_sources_argument,
    make_bootstrap,
)
from roamtui.errors import UsageError

TYPE_CHECKING = False  # `typing` is slow to load
if TYPE_CHECKING:
    from roamtui.headless.mcp import McpSession


def _run_mcp(args: Namespace) -> None:
    """Serve the model's tools over the Model Context Protocol."""
    from roamtui.paths import is_standard_input

    if any(map(is_standard_input, args.sources)):
        raise UsageError("`roamtui mcp` cannot read a document from standard input. Name a file.")
    from roamtui.agent.specs import list_served_specs
    from roamtui.headless.mcp_server import run_mcp_server
    from roamtui.search.base import SearchMode
    from roamtui.settings import list_overrides, load_settings

    has_search = load_settings(list_overrides(vars(args))).retrieval.mode is not SearchMode.OFF

    def make_session() -> McpSession:
        from roamtui.headless.mcp import McpSession

        bootstrap = make_bootstrap(args)
        make_searcher = bootstrap.make_searcher_factory() if has_search else None
        return McpSession(partial(bootstrap.open, args.sources), make_searcher, args.sources)

    run_mcp_server(list_served_specs(has_search=has_search), make_session)


def _run_doctor(args: Namespace) -> int:
    """Check the installation, file locations and available models."""
    from msgspec.structs import replace

    from roamtui.headless.doctor import run_doctor
    from roamtui.sanitiser import mask_logins
    from roamtui.settings import Settings, list_overrides, load_settings
    from roamtui.tui.actions import make_keymap
    from roamtui.tui.themes import load_themes

    fault = ""
    try:
        settings = load_settings(list_overrides(vars(args)))
    except UsageError as error:
        settings = replace(Settings(), api_base=args.api_base)
        fault = str(error)
    keymap = make_keymap(settings.keys)
    *_, theme_problem = load_themes(settings.theme)
    notes = [("ignored", problem) for problem in (*keymap.conflicts, theme_problem) if problem]
    if not fault:
        server = f" at {mask_logins(settings.api_base)}" if settings.api_base else ""
        notes.insert(0, ("model", f"{settings.model}{server}"))
    options = settings.model_options(args.model or "")
    return run_doctor(
        model=args.model or None,
        api_base=settings.api_base,
        options=options,
        retrieval=settings.retrieval,
        fault=fault,
        notes=notes,
    )


MCP = Command(
    "mcp", _run_mcp, "handbook.md", add_sources_argument, add_reading_arguments, add_search_arguments
)
DOCTOR = Command("doctor", _run_doctor, "--model ollama_chat/llama3.2", add_model_arguments)
