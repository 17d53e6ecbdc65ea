"""What a person is asked before it happens. A front end without a person denies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class CostApproval:
    """The next request may take the conversation past its spending cap."""

    spent_usd: float
    cap_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginApproval:
    """Pages are to be fetched from an origin that the person did not type."""

    host: str
    """Host and port, as the address has them."""
    origin: str
    """As ``https://host[:port]``."""
    urls: tuple[str, ...]
    """The pages."""


Approval = CostApproval | OriginApproval


class Approver(Protocol):
    """Somebody who can say yes."""

    async def approve(self, approval: Approval) -> bool:
        """Return whether it may be done."""
        ...


class Denier:
    """Says no to everything: where no person can be asked."""

    async def approve(self, approval: Approval) -> bool:  # noqa: ARG002 - the answer is always no
        """Return False."""
        return False
