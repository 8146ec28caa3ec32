"""Claims drawn from episodes; each quotes one sentence of a document and names the episodes it rests on."""

from datetime import datetime

from sqlmodel import Field, SQLModel

from skillhub.models.base import time_field, workspace_field


class Evidence(SQLModel, table=True):
    id: str = Field(primary_key=True)
    workspace_id: str = workspace_field()
    candidate_id: str = Field(foreign_key="candidate.id", index=True)
    anchor: str
    """Section path the sentence stands in."""
    claim: str
    """The sentence, as it stands in the document."""
    polarity: int = 1
    weight: float = 1.0
    state: str = "valid"
    """`valid`, `stale` or `refuted`."""
    created_at: datetime = time_field()


class EvidenceEpisode(SQLModel, table=True):
    __tablename__ = "evidence_episode"

    evidence_id: str = Field(foreign_key="evidence.id", primary_key=True)
    episode_id: str = Field(foreign_key="episode.id", primary_key=True, index=True)
    workspace_id: str = workspace_field()
