"""The command `roamtui table`. Its code is imported when it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roamtui.errors import UsageError
from roamtui.option_fields import (
    FILES_HELP,
    SEARCH,
    WebArguments,
    add_argument_group,
    declare_overrides,
    decode_argument,
    option,
)
from roamtui.settings import load_settings_and_warn


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCommand:
    """Ask the same questions about many documents: a row for each document, a column for each question."""

    sources: tuple[str, ...] = option(
        ..., f"{FILES_HELP}; or the folder of a table, to go on with it", name="SOURCE", nargs="+"
    )
    questions: tuple[str, ...] = option(
        (),
        "a question (repeatable); its type may follow: [yes/no], [number], [date], [red | green]",
        name="-q",
        metavar="QUESTION",
    )
    questions_file: Path | None = option(
        None,
        "more questions, as TOML or JSON lines: question, name, type, choices",
        name="--questions",
        kind=Path,
        metavar="FILE",
    )
    rows: str = option(
        "files", "a row for each file (default) or chapter", name="--rows", choices=("files", "chapters")
    )
    jobs: int = option(1, "cells to fill at a time", name="--jobs", low=1)
    output_path: Path | None = option(
        None,
        "write the table to FILE.csv, .md, .html or .json, instead of JSON to stdout",
        name="-o",
        kind=Path,
        metavar="FILE",
    )
    folder: Path | None = option(
        None,
        "keep the table in this folder (default: one of its own for these sources)",
        name="--folder",
        kind=Path,
        metavar="DIR",
    )
    shard: str | None = option(
        None,
        "fill only every N-th row, from the I-th; several machines share one --folder",
        name="--shard",
        metavar="I/N",
    )
    web: WebArguments = add_argument_group(WebArguments)
    overrides: Mapping[str, Any] = declare_overrides("model", "api_base", "max_cost_usd", SEARCH)

    def run(self) -> int:
        from roamtui.export.table import RENDERERS
        from roamtui.headless.table import run_table
        from roamtui.table.columns import parse_question, read_columns
        from roamtui.table.rows import check_output
        from roamtui.table.store import parse_shard
        from roamtui.table_setup import TableOptions, prepare_table

        if self.output_path is not None and self.output_path.suffix.lower() not in RENDERERS:
            raise UsageError(f"-o takes a file whose name ends with {', '.join(RENDERERS)}.")
        columns = [parse_question(decode_argument(question)) for question in self.questions]
        columns += read_columns(self.questions_file) if self.questions_file is not None else ()
        settings = load_settings_and_warn(self.overrides)
        job = prepare_table(
            self.sources,
            columns,
            settings,
            self.web,
            TableOptions(
                by_chapters=self.rows == "chapters",
                folder=self.folder,
                jobs=self.jobs,
                shard=parse_shard(self.shard) if self.shard is not None else None,
            ),
        )
        if not job.defined.columns:
            raise UsageError("a table needs questions. Give them with -q, or a file of them with --questions.")
        if self.output_path is not None:
            check_output(self.output_path, job.defined.rows)
        return run_table(job.store, job.defined, job.plan, self.output_path)
