"""`roamtui conversations`, `notes` and `recheck`: list, export, delete and check what a person has saved."""

from argparse import Namespace
from functools import partial

from roamtui.commands.arguments import (
    Command,
    CommandParser,
    add_json,
    add_reading_arguments,
    add_yes,
    make_bootstrap,
    refuse_unused,
)
from roamtui.errors import SourceError, UsageError


def _add_conversations_arguments(parser: CommandParser) -> None:
    parser.add_argument("action", nargs="?", default="list", choices=("list", "export", "delete"))
    parser.add_argument("id", nargs="?", metavar="ID", help="from the list")
    help_text = "without -o: md (default), json, or html, a page that replays it"
    parser.add_argument("--format", choices=("md", "json", "html"), help=help_text)
    parser.add_path("-o", "export to FILE.md, .json or .html, or replace it", dest="output", metavar="FILE")
    help_text = "with export: where the document is now, if it has moved"
    parser.add_file_argument("--in", dest="moved_to", metavar="SOURCE", help=help_text)
    parser.add_flag("--all", "list conversations from `roamtui ask` too")
    add_yes(parser)


def _check_place(source: str | None) -> None:
    """Raise `SourceError` if nothing is where the person says that a document is now."""
    from pathlib import Path

    from roamtui.conversation.library_sync import is_source_missing, list_missing
    from roamtui.paths import is_standard_input
    from roamtui.sources.read import explain_error

    if source and is_source_missing(source) and not is_standard_input(source):
        raise SourceError(explain_error(Path(list_missing(source)[0]), FileNotFoundError()))


def _run_conversations(args: Namespace) -> None:
    """List, export or delete saved conversations."""
    from roamtui.headless.conversations import delete_conversation, export_conversation, print_conversations

    if (args.id is None) != (args.action == "list"):
        raise UsageError(
            "`roamtui conversations list` needs no ID. Leave it out."
            if args.action == "list"
            else f"{args.action} needs the ID of a conversation. `roamtui conversations` lists them."
        )
    options_of = {
        "list": {"--all": args.all},
        "export": {"-o": args.output, "--in": args.moved_to, "--format": args.format},
        "delete": {"--yes": args.yes},
    }
    for action, options in options_of.items():
        if action != args.action:
            refuse_unused(options, f"on `roamtui conversations {args.action}`")
    if args.output and args.format and not str(args.output).lower().endswith(f".{args.format}"):
        raise UsageError("the ending of the name after -o chooses the format. Leave out --format.")
    if args.id is None:
        print_conversations(lists_one_shots=args.all)
    elif args.action == "delete":
        delete_conversation(args.id, assume_yes=args.yes)
    else:
        _check_place(args.moved_to)
        reopen = make_bootstrap(args).reopen_conversation
        export_conversation(args.id, args.format or "md", reopen, args.output, args.moved_to)


def _add_notes_arguments(parser: CommandParser) -> None:
    help_text = "the document, or its name as listed"
    parser.add_file_argument("source", metavar="SOURCE", nargs="?", help=help_text)
    parser.add_flag("--delete", "delete all notes on it permanently; asks first")
    add_yes(parser)


def _run_notes(args: Namespace) -> None:
    """Print your notes on a document, or list documents with notes."""
    from roamtui.headless.conversations import delete_notes, print_noted_documents, print_notes

    if not args.delete:
        refuse_unused({"--yes": args.yes}, "without --delete")
    if args.source is not None and args.delete:
        delete_notes(args.source, assume_yes=args.yes)
    elif args.source is not None:
        print_notes(args.source, make_bootstrap(args).reopen_file)
    elif args.delete:
        raise UsageError("--delete needs a document. Name the one whose notes you want to delete.")
    else:
        print_noted_documents()


def _add_recheck_arguments(parser: CommandParser) -> None:
    help_text = "conversations, folders of tables, Markdown exports, texts with quotes"
    parser.add_file_argument("targets", metavar="ID|FILE", nargs="*", help=help_text)
    parser.add_flag("--all", "every saved conversation")
    help_text = "look in this source, not in the recorded one"
    parser.add_file_argument("--in", dest="source", metavar="SOURCE", help=help_text)
    parser.add_flag("--since", "report only what changed since the answers")


def _run_recheck(args: Namespace) -> int:
    """Check whether quotes are still in their documents; exit 1 if not."""
    from roamtui.headless.recheck import run_recheck

    if args.targets and args.all:
        raise UsageError("--all checks every saved conversation. Leave it out, or the other names.")
    if not args.targets and not args.all:
        raise UsageError("name what to check: ids of conversations, files with quotes, tables, or --all.")
    _check_place(args.source)
    bootstrap = make_bootstrap(args)
    reopen = bootstrap.reopen_conversation
    open_file = partial(bootstrap.reopen_file, is_trusted=bool(args.source))  # else the file names it
    source = args.source or None
    return run_recheck(args.targets, reopen, open_file, source, only_changes=args.since, as_json=args.json)


CONVERSATIONS = Command(
    "conversations", _run_conversations, "export 3f9c12ab77de -o fees.html", _add_conversations_arguments
)
NOTES = Command("notes", _run_notes, "handbook.md", _add_notes_arguments, add_reading_arguments)
RECHECK = Command(
    "recheck",
    _run_recheck,
    "answer.md --in handbook.md",
    _add_recheck_arguments,
    add_json,
    add_reading_arguments,
)
