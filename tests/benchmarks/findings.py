"""Results that are no two durations side by side: a value, and the goal that it is held against."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of a table."""

    what: str
    value: str
    goal: str = ""
    is_met: bool = True

    @property
    def verdict(self) -> str:
        """The goal and whether it is met, empty where there is none."""
        return f"{self.goal}: {'met' if self.is_met else 'MISSED'}" if self.goal else ""


FINDINGS_HEAD = f"| {'what':<58} | {'roamtui':>12} | {'goal':<22} |\n|{'-' * 60}|{'-' * 13}:|{'-' * 24}|"


def format_finding(finding: Finding) -> str:
    """Return one line of the table."""
    return f"| {finding.what:<58} | {finding.value:>12} | {finding.verdict:<22} |"
