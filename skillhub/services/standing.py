"""How the hub stands, over all workspaces; for its operator."""

from dataclasses import dataclass

from skillhub.store import search, standing
from skillhub.store.session import Database


@dataclass(frozen=True)
class Standing:
    jobs: dict[tuple[str, ...], int]
    """`(kind, state)` -> how many."""
    decisions: dict[tuple[str, ...], int]
    """`(verdict,)` -> how many."""
    oldest_waiting_seconds: float
    heads: dict[str, int]
    """Workspace -> `seq` of its newest event."""


def of(database: Database) -> Standing:
    with database.system_transaction() as session:
        return Standing(
            standing.jobs(session), standing.decisions(session), standing.oldest_waiting_seconds(session), search.heads(session)
        )
