"""`roamtui outline`, `show`, `search`, `index` and `eval`: write and find sections, and measure search."""

from argparse import Namespace

from roamtui.commands.arguments import (
    Command,
    CommandParser,
    add_answering_arguments,
    add_json,
    add_max_cost,
    add_reading_arguments,
    add_source_argument,
    add_sources_argument,
    add_yes,
    make_bootstrap,
    open_command_sources,
    refuse_unused,
)
from roamtui.errors import UsageError


def _add_skipped(parser: CommandParser) -> None:
    parser.add_flag("--skipped", "list the files of a folder that are no part of the outline instead")


def _run_outline(args: Namespace) -> None:
    """Print the outline exactly as the model reads it."""
    from roamtui.headless.sections import print_outline, print_skipped

    if args.skipped:
        refuse_unused({"--json": args.json}, "with --skipped")
    _, library, _ = open_command_sources(args, tells_notes=not args.skipped)
    if args.skipped:
        print_skipped(library)
    else:
        print_outline(library, as_json=args.json)


def _add_ids(parser: CommandParser) -> None:
    parts = "its part 2 (07f3277d:2) or a range below it (07f3277d:c2)"
    help_text = f"a section, {parts}; a title, or 'Fees and deposits > Late fees'"
    parser.add_argument("ids", metavar="ID", nargs="+", help=help_text)


def _run_show(args: Namespace) -> None:
    """Print the source text of sections and their subsections."""
    from roamtui.headless.sections import print_sections

    _, library, loader = open_command_sources(args)
    print_sections(library, loader, args.ids)


def _run_search(args: Namespace) -> int:
    """Print the sections that best match a query; exit 1 if there is none."""
    from roamtui.headless.sections import print_hits, search_with_pages

    if not args.query.strip():
        raise UsageError("the query is empty. Write the words to search for.")
    bootstrap, library, loader = open_command_sources(args)
    searcher = bootstrap.make_searcher_factory()(library)
    if searcher is None:
        raise UsageError("search is off. Set --mode to keyword, vector or hybrid.")
    limit = bootstrap.settings.retrieval.limit or 10
    library, hits = search_with_pages(library, loader, searcher, args.query, limit=limit)
    print_hits(library, hits, searcher.mode, as_json=args.json)
    return int(not hits)


def _add_index_arguments(parser: CommandParser) -> None:
    parser.add_flag("--delete", "delete the index")
    parser.add_flag("--summaries", "let the model describe each document; asks first")
    add_yes(parser)


def _run_index(args: Namespace) -> None:
    """Build or update the search index of a source on disk."""
    from functools import partial

    from roamtui.agent.approvals import SpendingLimit
    from roamtui.headless.index import delete_source_index, run_index
    from roamtui.models.usage import UsageMeter

    if args.delete:
        refuse_unused({"--summaries": args.summaries}, "with --delete")
    if not args.summaries:
        refuse_unused({"--yes": args.yes}, "without --summaries")
    bootstrap, library, _ = open_command_sources(args)
    options = bootstrap.settings.retrieval
    if args.delete:
        delete_source_index(library, options)
        return
    spending = SpendingLimit(bootstrap.settings.limits.max_cost_usd, is_shared=True)
    meter = UsageMeter(partial(spending.reserve, "vectors"))
    services = bootstrap.make_search_services(meter, needs_all_vectors=True)
    model = bootstrap.make_model() if args.summaries else None
    run_index(library, options, services, model, spending, assume_yes=args.yes)


def _add_eval_arguments(parser: CommandParser) -> None:
    parser.add_path("questions", "file with one JSON object per line", metavar="QUESTIONS")
    parser.add_path("--docs", "folder of the documents", metavar="DIR", required=True)
    help_text = "search one document, or the folder"
    parser.add_argument("--scope", choices=("doc", "all"), default="doc", help=help_text)


def _run_eval(args: Namespace) -> None:
    """Measure search, or with --model answers, on your own questions."""
    from roamtui.conversation.messages import OFFLINE
    from roamtui.evaluation.runner import EvalPlan
    from roamtui.headless.evaluate import run_evaluation

    bootstrap = make_bootstrap(args)
    if bootstrap.settings.retrieval.mode == "off" and args.model in (None, OFFLINE):
        raise UsageError(
            "search is off, so there is nothing to measure. Set --mode, or a --model other than offline."
        )
    plan = EvalPlan(
        docs=args.docs,
        scope=args.scope,
        open_library=lambda path: bootstrap.open((str(path),), load_all=True)[0],
        make_searcher=bootstrap.make_searcher_factory(needs_all_vectors=True),
        model=bootstrap.make_model() if args.model else None,
        agent_options=bootstrap.agent_options,
    )
    run_evaluation(args.questions, plan, as_json=args.json)


OUTLINE = Command(
    "outline",
    _run_outline,
    "handbook.md",
    add_sources_argument,
    _add_skipped,
    add_json,
    add_reading_arguments,
)
SHOW = Command(
    "show",
    _run_show,
    'handbook.md "Fees and deposits > Late fees"',
    add_source_argument,
    _add_ids,
    add_reading_arguments,
)
SEARCH = Command(
    "search",
    _run_search,
    'handbook.md "late fee"',
    add_source_argument,
    lambda parser: parser.add_words("query", "words"),
    add_json,
    add_answering_arguments,
)
INDEX = Command(
    "index",
    _run_index,
    "docs/ --mode hybrid --embedder ollama/nomic-embed-text",
    add_sources_argument,
    _add_index_arguments,
    add_max_cost,
    add_answering_arguments,
)
EVAL = Command(
    "eval",
    _run_eval,
    "questions.jsonl --docs docs/",
    _add_eval_arguments,
    add_json,
    add_answering_arguments,
)
