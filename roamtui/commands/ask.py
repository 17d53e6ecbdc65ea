"""`roamtui ask` and `table`: ask questions, and write their answers."""

from argparse import Namespace

from roamtui.commands.arguments import (
    Command,
    CommandParser,
    NumberRange,
    add_answering_arguments,
    add_conversation_arguments,
    add_max_cost,
    add_source_argument,
    add_sources_argument,
    decode_argument,
    make_bootstrap,
    open_command_sources,
    refuse_unused,
)
from roamtui.errors import UsageError


def _add_ask_arguments(parser: CommandParser) -> None:
    parser.add_words("question", "in your own words, as one argument; put -- before one such as --help")
    help_text = "limit the question to this section (id, title or path) and its subsections"
    parser.add_argument("--within", metavar="SECTION", help=help_text)
    parser.add_flag("--strict", "exit status 1 unless all quotes name a section and are in the text")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the answer and its metadata as JSON")
    form.add_argument("--events", action="store_true", help="print events as JSON lines, the answer last")


def _run_ask(args: Namespace) -> int:
    """Ask one question and print a cited answer."""
    import asyncio

    from roamtui.conversation.messages import OFFLINE
    from roamtui.headless.ask import OutputFormat, run_ask
    from roamtui.outline.references import resolve_section

    if not args.question.strip():
        raise UsageError("the question is empty. Write one in quotation marks.")
    bootstrap, library, loader = open_command_sources(args)
    within = resolve_section(library, args.within).section_id if args.within else None
    model = bootstrap.make_model()
    agent = bootstrap.make_agent(library, loader, args.conversation, model, with_one_shots=True)
    # offline, nothing was sent, so no model needs approval
    if bootstrap.has_typed_model or agent.conversation.state.model == OFFLINE:
        agent.use_model(agent.model)
    output_format = OutputFormat("events" if args.events else "json" if args.json else "text")
    status = asyncio.run(run_ask(agent, args.question, within, output_format))
    return status or int(args.strict and not agent.conversation.state.exchanges[-1].has_only_found_quotes)


def _add_table_arguments(parser: CommandParser) -> None:
    help_text = "a question (repeatable); its type may follow: [yes/no], [number], [date], [red | green]"
    parser.add_argument(
        "-q", dest="questions", type=decode_argument, action="append", default=[], metavar="Q", help=help_text
    )
    parser.add_path("--questions", "a TOML file of more questions", dest="file", metavar="FILE")
    parser.add_path("-o", "write FILE.csv, .md or .json, or replace it", dest="output", metavar="FILE")
    parser.add_number("--jobs", "documents to ask about at a time", NumberRange(1, 100), default=1)
    parser.add_path("--folder", "where to keep the table (default: by its sources)", metavar="DIR")


def _run_table(args: Namespace) -> int:
    """Ask the same questions about many documents."""
    from roamtui.headless.table import run_table
    from roamtui.output import write_notice

    table, plan = make_bootstrap(args).make_table(
        args.sources, args.questions, args.file, folder=args.folder, jobs=args.jobs
    )
    if table.folder != args.folder:
        refuse_unused({"--folder": args.folder}, "if the source is the folder of a table")
    if table.columns and not args.questions and args.file is None:
        questions = " · ".join(column.question for column in table.columns)
        write_notice(f"The table has these questions from earlier runs: {questions}")
    return run_table(table, plan, args.output)


ASK = Command(
    "ask",
    _run_ask,
    'handbook.md "What does a late book cost?"',
    add_source_argument,
    _add_ask_arguments,
    add_conversation_arguments,
    add_answering_arguments,
)
TABLE = Command(
    "table",
    _run_table,
    'contracts/ -q "When does it end? [date]" -o ends.csv',
    add_sources_argument,
    _add_table_arguments,
    add_max_cost,
    add_answering_arguments,
)
