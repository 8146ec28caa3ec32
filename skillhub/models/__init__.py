"""The nouns of skillhub, one SQLModel table per concept; no behaviour."""

from skillhub.models.branch import Branch
from skillhub.models.candidate import Candidate
from skillhub.models.context import Context, Embedding
from skillhub.models.episode import Episode, Exposure, Step
from skillhub.models.event import Event
from skillhub.models.evidence import Evidence, EvidenceEpisode
from skillhub.models.gate import Decision, Gate, Trial
from skillhub.models.idempotency import IdempotencyRecord
from skillhub.models.job import Job, JobAttempt
from skillhub.models.label import Label
from skillhub.models.optimisation import Optimisation, OptimisationDraft, OptimisationStep, ScreeningTrial
from skillhub.models.quarantine import Quarantine
from skillhub.models.schedule import Schedule
from skillhub.models.skill import Skill
from skillhub.models.suite import Case, Suite
from skillhub.models.version import Version, VersionFile, VersionParent
from skillhub.models.webhook import Webhook, WebhookDelivery
from skillhub.models.workspace import ApiKey, Workspace

__all__ = [
    "ApiKey", "Branch", "Candidate", "Case", "Context", "Decision", "Embedding", "Episode", "Event", "Evidence",
    "EvidenceEpisode", "Exposure", "Gate", "IdempotencyRecord", "Job", "JobAttempt", "Label", "Optimisation",
    "OptimisationDraft", "OptimisationStep", "Quarantine", "Schedule", "ScreeningTrial", "Skill",
    "Step", "Suite", "Trial", "Version", "VersionFile", "VersionParent", "Webhook", "WebhookDelivery", "Workspace",
]  # fmt: skip
