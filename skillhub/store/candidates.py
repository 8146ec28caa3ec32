"""SQL of candidates and the evidence they rest on."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import text
from sqlmodel import Session, col, select

from skillhub.models import Candidate, Episode, Evidence, EvidenceEpisode
from skillhub.store import keyset
from skillhub.store.keyset import BY_TIME, Start

ORDERS = BY_TIME
_LINE = text("""
WITH RECURSIVE line (id, previous_id, at) AS (
  SELECT id, previous_id, 0 FROM candidate WHERE id = :id
  UNION ALL SELECT c.id, c.previous_id, line.at + 1 FROM candidate c JOIN line ON c.id = line.previous_id
)
SELECT id FROM line ORDER BY at
""")


def insert(session: Session, candidate: Candidate, evidence: Iterable[tuple[Evidence, Collection[str]]]) -> None:
    """Write a candidate with its evidence and the episodes behind it."""
    session.add(candidate)
    session.flush()
    for row, episode_ids in evidence:
        session.add(row)
        session.flush()
        session.add_all(
            EvidenceEpisode(evidence_id=row.id, episode_id=episode_id, workspace_id=row.workspace_id)
            for episode_id in sorted(set(episode_ids))
        )
    session.flush()


def get(session: Session, candidate_id: str) -> Candidate | None:
    return session.get(Candidate, candidate_id)


def lock(session: Session, candidate_id: str) -> Candidate | None:
    query = select(Candidate).where(Candidate.id == candidate_id).with_for_update(key_share=True)
    return session.exec(query.execution_options(populate_existing=True)).one_or_none()


def same_content(session: Session, *, workspace_id: str, skill_name: str, content_sha256: str) -> Candidate | None:
    """The first candidate for that skill with that content, unless its test broke, which says nothing about it."""
    query = select(Candidate).where(
        Candidate.workspace_id == workspace_id,
        Candidate.skill_name == skill_name,
        Candidate.content_sha256 == content_sha256,
        Candidate.state != "error",
    )
    return session.exec(query.order_by(Candidate.id).limit(1)).one_or_none()


def page(session: Session, *, workspace_id: str, start: Start, **filters: Any) -> Sequence[Candidate]:
    """Candidates with these values."""
    query = keyset.filtered(select(Candidate).where(Candidate.workspace_id == workspace_id), Candidate, filters)
    return keyset.page(session, query, Candidate, orders=ORDERS, start=start)


def line(session: Session, candidate_id: str) -> list[str]:
    """Ids of a candidate and of those before it on its branch, the newest first."""
    return session.execute(_LINE, {"id": candidate_id}).scalars().all()


def evidence(session: Session, candidate_ids: Collection[str]) -> dict[str, list[tuple[Evidence, list[str]]]]:
    """Candidate id -> its evidence with the ids of the episodes behind each claim."""
    rows = session.exec(select(Evidence).where(col(Evidence.candidate_id).in_(candidate_ids)).order_by(Evidence.id)).all()
    links = select(EvidenceEpisode).where(col(EvidenceEpisode.evidence_id).in_([row.id for row in rows]))
    episodes: dict[str, list[str]] = defaultdict(list)
    for link in session.exec(links.order_by(EvidenceEpisode.episode_id)):
        episodes[link.evidence_id].append(link.episode_id)
    found: dict[str, list[tuple[Evidence, list[str]]]] = defaultdict(list)
    for row in rows:
        found[row.candidate_id].append((row, episodes[row.id]))
    return found


def known_episodes(session: Session, *, workspace_id: str, ids: Collection[str]) -> set[str]:
    query = select(Episode.id).where(Episode.workspace_id == workspace_id, col(Episode.id).in_(ids))
    return set(session.exec(query))
