"""SQL that reads the circle backwards: from a skill to its candidates, trials and episodes."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from sqlmodel import Session, col, select

from skillhub.models import Candidate, Case, Episode, Skill, Trial, Version


class Run(NamedTuple):
    """One arm of a pair of trials, with the case it played."""

    trial: Trial
    case: Case


class Shown(NamedTuple):
    """A version with the name of its skill."""

    version: Version
    skill: Skill


def candidates(session: Session, *, workspace_id: str, skill_name: str) -> Sequence[Candidate]:
    """Every candidate for a skill, oldest first, whatever its verdict."""
    query = select(Candidate).where(Candidate.workspace_id == workspace_id, Candidate.skill_name == skill_name)
    return session.exec(query.order_by(Candidate.id)).all()


def versions(session: Session, *, skill_id: str) -> Sequence[Version]:
    """Every version of a skill, oldest first."""
    return session.exec(select(Version).where(Version.skill_id == skill_id).order_by(Version.number)).all()


def runs(session: Session, *, gate_id: str) -> list[Run]:
    """All trials of a gate by pair, the base's before the candidate's."""
    query = select(Trial, Case).join(Case, col(Case.id) == col(Trial.case_id)).where(Trial.gate_id == gate_id)
    return [Run(trial, case) for trial, case in session.exec(query.order_by(Trial.pair, Trial.arm))]


def episodes(session: Session, ids: Collection[str]) -> dict[str, Episode]:
    return {row.id: row for row in session.exec(select(Episode).where(col(Episode.id).in_(ids)))}


def shown(session: Session, version_ids: Collection[str]) -> dict[str, Shown]:
    """Version id -> the version and its skill."""
    query = select(Version, Skill).join(Skill, col(Skill.id) == col(Version.skill_id))
    return {version.id: Shown(version, skill) for version, skill in session.exec(query.where(col(Version.id).in_(version_ids)))}
