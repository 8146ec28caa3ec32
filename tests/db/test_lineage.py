"""Every published sentence leads back to its candidate, its decision and its episodes."""

from skillhub.services import lineage, versions
from skillhub.services.scope import Scope
from tests.proven import NAME, SENTENCE, proven_skill


def test_the_graph_joins_version_candidate_decision_evidence_and_episodes(scope: Scope) -> None:
    proven_skill(scope)
    graph = lineage.graph(scope, NAME)
    assert {node["type"] for node in graph.nodes} == {"version", "candidate", "decision", "evidence", "episode"}
    relations = sorted(edge["relation"] for edge in graph.edges)
    assert relations == ["decided", "drawn_from", "drawn_from", "published_from", "rests_on"]
    ids = {node["id"] for node in graph.nodes}
    assert all(edge["source"] in ids and edge["target"] in ids for edge in graph.edges)


def test_a_rejected_candidate_stays_in_the_graph(scope: Scope) -> None:
    proven_skill(scope)
    with scope.transaction() as unit:
        candidate = lineage.candidate_rows.get(unit.session, "can_1")
        copy = candidate.model_dump() | {"id": "can_2", "state": "rejected"}
        unit.session.add(type(candidate)(**copy))
    states = {node["id"]: node["state"] for node in lineage.graph(scope, NAME).nodes if node["type"] == "candidate"}
    assert states == {"can_1": "accepted", "can_2": "rejected"}


def test_a_sentence_is_traced_to_its_episodes_by_its_words(scope: Scope) -> None:
    proven_skill(scope)
    first, second = lineage.blame(scope, name=NAME, number=1)
    assert (first.sentence.text, first.candidate.id, first.decision.verdict) == (SENTENCE, "can_1", "accepted")
    assert [(row.id, ids) for row, ids in first.evidence] == [("evi_1", ["epi_1", "epi_2"])]
    assert second.evidence == []


def test_a_sentence_keeps_its_origin_through_edits_elsewhere_and_rollbacks(scope: Scope) -> None:
    proven_skill(scope)
    operations = [
        {"op": "replace", "anchor": "steps", "sentence": "Wait.", "text": "Wait long."},
        {"op": "move", "anchor": "steps", "after": ""},
    ]
    versions.publish(scope, name=NAME, operations=operations, base=1)
    versions.rollback(scope, name=NAME, number=2)
    origins = {origin.sentence.text: origin for origin in lineage.blame(scope, name=NAME, number=2)}
    assert origins[SENTENCE].introduced_in.number == 1
    assert origins[SENTENCE].evidence
    assert origins["Wait long."].introduced_in.number == 2
    assert origins["Wait long."].candidate is None


def test_a_sentence_that_went_and_came_back_by_hand_has_lost_its_proof(scope: Scope) -> None:
    proven_skill(scope)
    document = versions.get(scope, name=NAME, number=1).version.document
    versions.publish(scope, name=NAME, document=document.replace(SENTENCE, "Cool it."))
    versions.publish(scope, name=NAME, document=document)
    origin = lineage.blame(scope, name=NAME, number=3)[0]
    assert (origin.sentence.text, origin.introduced_in.number, origin.evidence) == (SENTENCE, 3, [])
