"""`roamtui conversations`, `notes` and `recheck`: what a person has saved."""

from __future__ import annotations

from argparse import Namespace

from roamtui.commands.arguments import (
    Command,
    CommandParser,
    add_json,
    add_reading_arguments,
    make_bootstrap,
    to_path,
)
from roamtui.errors import UsageError


def _add_conversations_arguments(parser: CommandParser) -> None:
    actions = ("list", "show", "export", "delete")
    parser.add_argument("action", nargs="?", default="list", choices=actions)
    parser.add_argument("id", nargs="?", metavar="ID", help="from the list")
    parser.add_argument(
        "--format",
        choices=("md", "json", "html"),
        help="md (default), or that of -o; html is a page that replays it",
    )
    parser.add_file_argument(
        "-o", dest="output", type=to_path, metavar="FILE", help="export to FILE.md, .json or .html"
    )
    parser.add_argument("--all", action="store_true", help="list those of `roamtui ask` too")


def _run_conversations(args: Namespace) -> None:
    """List, show, export or delete saved conversations."""
    from roamtui.headless.conversations import delete_conversation, print_conversation, print_conversations

    if (args.id is None) != (args.action == "list"):
        raise UsageError(
            "`roamtui conversations list` needs no ID. Leave it out."
            if args.action == "list"
            else f"{args.action} needs the ID of a conversation. `roamtui conversations` lists them."
        )
    if args.output is not None and args.action != "export":
        raise UsageError("-o works only with `roamtui conversations export`.")
    if args.id is None:
        print_conversations(as_json=args.format == "json", lists_one_shots=args.all)
    elif args.action == "delete":
        delete_conversation(args.id)
    else:
        print_conversation(args.id, args.format, make_bootstrap(args).reopen, args.output)


def _add_notes_arguments(parser: CommandParser) -> None:
    parser.add_file_argument(
        "source", metavar="SOURCE", nargs="?", help="the document, or its name as listed"
    )
    parser.add_argument("--delete", action="store_true", help="delete all notes on it permanently")
    add_reading_arguments(parser)


def _run_notes(args: Namespace) -> None:
    """Print your notes on a document, or list documents with notes."""
    from roamtui.headless.conversations import delete_notes, list_notes, print_notes

    if args.source is not None:
        handle = delete_notes if args.delete else print_notes
        handle(args.source, make_bootstrap(args).reopen)
    elif args.delete:
        raise UsageError("--delete needs a document. Name the one whose notes you want to delete.")
    else:
        list_notes()


def _add_recheck_arguments(parser: CommandParser) -> None:
    parser.add_file_argument(
        "targets", metavar="ID|FILE", nargs="*", help="conversations, tables, exports, texts with quotes"
    )
    parser.add_argument("--all", action="store_true", help="every saved conversation")
    parser.add_argument(
        "--in", dest="within", metavar="SOURCE", help="look in this source, not in the recorded one"
    )
    add_json(parser)
    add_reading_arguments(parser)


def _run_recheck(args: Namespace) -> int:
    """Check whether quotes are still in their documents; exit 1 if not."""
    from roamtui.headless.recheck import run_recheck

    if bool(args.targets) == args.all:
        raise UsageError("name what to check: ids of conversations, files with quotes, tables, or --all.")
    return run_recheck(args.targets, make_bootstrap(args).reopen, args.within or None, as_json=args.json)


CONVERSATIONS = Command(
    "conversations", _run_conversations, _add_conversations_arguments, "export 3f9c12ab77de -o fees.html"
)
NOTES = Command("notes", _run_notes, _add_notes_arguments, "handbook.md")
RECHECK = Command("recheck", _run_recheck, _add_recheck_arguments, "answer.md --in handbook.md")
