"""A skill that went round the circle, written row by row: two episodes, a candidate, its gate with two pairs, its version."""

from skillhub.models import Candidate, Case, Decision, Episode, Evidence, EvidenceEpisode, Exposure, Gate, Step, Suite, Trial
from skillhub.services.scope import Scope
from skillhub.services.versions import publish_in

NAME = "boil-water"
SENTENCE = "Heat the water until it boils."
DOCUMENT = f"---\nname: {NAME}\ndescription: How to boil water.\n---\n\n# Boil\n\n## Steps\n\n1. {SENTENCE}\n2. Wait.\n"


def proven_skill(scope: Scope, *, document: str = DOCUMENT, claim: str = SENTENCE, hostile: str = "") -> None:
    """`hostile` is put into every text an episode, candidate or decision carries."""
    with scope.transaction() as unit:
        session, own = unit.session, {"workspace_id": scope.workspace_id}
        for number in (1, 2):
            facts = {"environment": f"world{hostile}", "task": f"Boil water. {hostile}", "slice": f"boil{hostile}"}
            session.add(
                Episode(id=f"epi_{number}", **own, key=f"run-{number}{hostile}", **facts, score=1.0, success=True,
                        content_sha256="", attributes={"note": hostile})
            )  # fmt: skip
            session.add(Suite(id=f"sui_{number}", **own, name=f"suite-{number}", content_sha256=""))
        session.flush()
        session.add(Step(episode_id="epi_1", index=0, **own, observation=f"A stove. {hostile}", action=f"heat {hostile}"))
        facts = {"proposer": f"extract{hostile}", "rationale": f"It worked. {hostile}", "target_slice": f"boil{hostile}"}
        session.add(
            Candidate(id="can_1", **own, skill_name=NAME, kind="skill", document=document, content_sha256="", state="accepted",
                      **facts)
        )  # fmt: skip
        session.flush()
        session.add(Exposure(id="exp_1", **own, episode_id="epi_1", candidate_id="can_1", rank=1, score=0.5))
        session.add(Evidence(id="evi_1", **own, candidate_id="can_1", anchor="steps", claim=claim, weight=2.0))
        session.flush()
        for number in (1, 2):
            session.add(EvidenceEpisode(evidence_id="evi_1", episode_id=f"epi_{number}", **own))
        _gate(session, own, hostile)
        version = publish_in(unit, name=NAME, kind="skill", document=document, message=f"new{hostile}", candidate_id="can_1")
        numbers = {"alpha": 0.05, "improve": [{"slice": f"boil{hostile}", "e": 31.9, "bar": 20.0, "proven": True}]}
        reason = f"on boil the candidate improves on the base. {hostile}"
        session.add(
            Decision(id="dec_1", **own, gate_id="gat_1", candidate_id="can_1", verdict="accepted", reason=reason,
                     numbers=numbers, version_id=version.id)
        )  # fmt: skip


def _gate(session, own: dict, hostile: str) -> None:
    session.add(
        Gate(id="gat_1", **own, candidate_id="can_1", suite_id="sui_1", target_slice="boil", candidate_sha256="",
             suite_sha256="", stream_index=1, alpha=0.05, state="decided")
    )  # fmt: skip
    session.flush()
    for pair in (1, 2):
        session.add(
            Case(id=f"cas_{pair}", **own, suite_id="sui_1", key=f"case-{pair}{hostile}", split="dev", slice=f"boil{hostile}")
        )
        session.flush()
        for arm, score in (("base", 0.0), ("candidate", 1.0)):
            session.add(
                Trial(id=f"tri_{pair}_{arm}", **own, gate_id="gat_1", case_id=f"cas_{pair}", pair=pair, arm=arm, seed=7,
                      state="finished", score=score, episode_id=f"epi_{pair}" if arm == "candidate" else None)
            )  # fmt: skip
    session.flush()
