"""`roamtui check`: what makes a document hard to navigate, as text, JSON or GitHub annotations."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from roamtui.checking.facts import SourceLocation, read_facts
from roamtui.checking.rules import PARTS, Rule, check, search_questions
from roamtui.document.library import Library
from roamtui.document.plain import sanitise_line
from roamtui.document.source_loader import is_url
from roamtui.document.text import line_number_at
from roamtui.errors import UsageError
from roamtui.evaluation.question_set import SearchedQuestion, read_questions
from roamtui.headless.output import write_json, write_notices, write_text
from roamtui.search.base import Searcher


def run_check(
    library: Library,
    rules: Sequence[Rule],
    output_format: str,
    questions: Path | None = None,
    searcher: Searcher | None = None,
) -> int:
    """Check a library, write the findings and return the exit status: 1 if there are any.

    Args:
        library: All its files must be loaded.
        rules: Rules to apply.
        output_format: ``text``, ``json`` or ``github``.
        questions: A file of questions to search for, or None.
        searcher: Searches the library, or None if search is off.

    Raises:
        SourceError: The questions cannot be read.
        UsageError: Search is off, so the questions cannot be searched for.
    """
    searched: Sequence[tuple[SourceLocation, SearchedQuestion]] = ()
    if questions is not None:
        if searcher is None:
            raise UsageError("search is off, so questions cannot be checked. Set retrieval.mode to keyword.")
        file = read_questions(questions)
        searched, problems = search_questions(library, file.questions, searcher)
        write_notices((*file.problems, *problems))
    report = check(replace(read_facts(library), questions=searched), rules)
    rows: list[dict[str, Any]] = []
    for rule, finding in report.findings:
        document, row = finding.location.document, finding.location.row
        described = {
            "code": rule.code,
            "name": rule.name,
            "section_id": document.ids[row] if row < len(document.columns) else library.root_id,
            "doc": document.key,
            "file": _format_file_path(document.key, library),
            "line": line_number_at(document.line_starts, finding.location.offset) if len(document.text) else 1,
            "message": finding.message,
            "fix": rule.advice,
            "count": finding.count,
        }
        rows.append(described)
    counts = dict(sorted(Counter(row["code"] for row in rows).items()))
    if output_format == "json":
        head = {"source": library.source, "score": report.score, "parts": report.parts, "rules": counts}
        write_json({**head, "findings": rows})
    elif output_format == "github":
        write_text("".join(map(_format_annotation, rows)))
    else:
        parts = ", ".join(f"{name} {report.parts[name]}" for name in PARTS.values() if name in report.parts)
        summary = ", ".join(f"{count} {code}" for code, count in counts.items())
        lines = [
            f"{sanitise_line(row['file'])}:{row['line']}: {row['code']} {row['message']}. {row['fix']}" for row in rows
        ]
        write_text(
            "\n".join([*lines, f"Score {report.score} of 100 ({parts}). {summary or 'Nothing was found'}."]) + "\n"
        )
    return int(bool(rows))


def _format_file_path(key: str, library: Library) -> str:
    # The URL, or the path as a person would type it in the current folder.
    if is_url(library.source) or library.source == "-" or is_url(key or "."):
        return key or library.source
    name = os.path.join(library.source, key) if key else library.source  # noqa: PTH118 - a string, as for relpath
    try:
        relative = os.path.relpath(name)
    except ValueError:  # on another drive
        return name
    return name if relative.startswith("..") else relative


def _format_annotation(row: dict[str, Any]) -> str:
    name, message = sanitise_line(row["file"]), _escape_annotation(row["message"])
    properties = ",".join(
        f"{key}={_escape_annotation(value).replace(':', '%3A').replace(',', '%2C')}"
        for key, value in (("file", name), ("line", str(row["line"])), ("title", f"{row['code']} {row['name']}"))
    )
    return f"::warning {properties}::{message}. {row['fix']}\n"


def _escape_annotation(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
