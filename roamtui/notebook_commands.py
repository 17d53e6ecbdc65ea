"""The commands `notebook` and `notebooks`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roamtui.document.library_source import NOTEBOOK_MARK
from roamtui.errors import UsageError
from roamtui.headless.output import write_notices
from roamtui.option_fields import (
    FILES_HELP,
    SEARCH,
    AppArguments,
    ConversationArguments,
    WebArguments,
    add_argument_group,
    declare_overrides,
    option,
)
from roamtui.paths import data_path, notebooks_path, reading_positions_path

_TAKES = ("no NAME", "the NAME of a notebook", "the NAME of a notebook and NEW")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookCommand:
    """Open a notebook: a named set of sources with its conversations and notes. With SOURCE, make it or add to it."""

    name: str = option(..., "its name; @NAME stands for it wherever a SOURCE does", name="NAME")
    sources: tuple[str, ...] = option(
        (), f"{FILES_HELP}; or a folder that `notebooks export` wrote", name="SOURCE", nargs="*"
    )
    is_only_saved: bool = option(False, "make it or add to it, without opening the app", name="--no-open")
    web: WebArguments = add_argument_group(WebArguments)
    overrides: Mapping[str, Any] = declare_overrides("model", "api_base", "max_cost_usd", "keep_open", SEARCH)
    conversation: ConversationArguments = add_argument_group(ConversationArguments)
    is_plain: bool = option(False, "plain text, for screen readers and simple terminals", name="--plain")

    def run(self) -> int:
        from roamtui.conversation.notebooks import NotebookStore
        from roamtui.headless.notebooks import add_to_notebook
        from roamtui.launch import run_app

        name = self.name.removeprefix(NOTEBOOK_MARK)
        add_to_notebook(NotebookStore(notebooks_path()), name, self.sources)
        if self.is_only_saved:
            return 0
        return run_app(
            AppArguments(
                sources=(f"{NOTEBOOK_MARK}{name}",),
                web=self.web,
                overrides=self.overrides,
                conversation=self.conversation,
                is_plain=self.is_plain,
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebooksCommand:
    """List, rename, delete or export notebooks. Their sources are never touched."""

    action: str = option(
        "list",
        "list (default) all; rename NAME to NEW; delete NAME; or export NAME to the new folder NEW",
        name="{list,rename,delete,export}",
        choices=("list", "rename", "delete", "export"),
        nargs="?",
    )
    name: str | None = option(None, "of the notebook", name="NAME", nargs="?")
    target: str | None = option(None, "its new name, or the folder to export it to", name="NEW", nargs="?")
    as_json: bool = option(False, "as JSON, for other programs", name="--json")

    def run(self) -> int:
        from roamtui.conversation.notebooks import NotebookStore
        from roamtui.conversation.store import ConversationStore
        from roamtui.headless.notebooks import print_notebooks, rename_notebook, write_export

        wanted = {"list": 0, "delete": 1}.get(self.action, 2)
        if (self.name is not None) + (self.target is not None) != wanted:
            raise UsageError(f"{self.action} takes {_TAKES[wanted]}.")
        store = NotebookStore(notebooks_path())
        if self.name is None:
            print_notebooks(store, as_json=self.as_json)
            return 0
        name, conversations = self.name.removeprefix(NOTEBOOK_MARK), ConversationStore(data_path())
        if self.target is None:
            store.delete(name)
            count = len(conversations.list(f"{NOTEBOOK_MARK}{name}"))
            words = f"{count} conversation{'s stay' if count > 1 else ' stays'}"
            kept = f" Its {words}: roamtui conversations" if count else ""
            write_notices([f'Deleted the notebook "{name}". Its sources are untouched.{kept}'])
        elif self.action == "rename":
            target = self.target.removeprefix(NOTEBOOK_MARK)
            rename_notebook(store, conversations, reading_positions_path(), name, target)
            write_notices([f'The notebook "{name}" is now "{target}".'])
        else:
            write_export(store.read(name), conversations, Path(self.target))
            write_notices([f"Wrote {self.target}. To open it: roamtui notebook NAME {self.target}"])
        return 0
