"""One skill walks the whole circle, in the real simulator, through the real API, worker and gate.

rollouts -> evidence -> candidates -> gate -> versions -> retrieval -> context -> next rollouts
"""

from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest
from skillhub_client import Client

from demo.circle import plan, walk
from demo.players import Hub, crew
from demo.stages import Stages
from skillhub.stack import Stack

TASK = "find-living-thing"


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory):
    with Stack(Path(tmp_path_factory.mktemp("hub"))) as stack:
        yield Hub(url=stack.url, key=stack.create_key("story", workspace="story"))


def test_one_skill_walks_the_whole_circle(hub: Hub) -> None:
    client = Client(hub.url, hub.key)
    whole = plan([TASK])[0]
    short = replace(whole, train=whole.train[:4], test=whole.test[:2])
    with crew(hub, run="story", size=2) as players:
        report = walk(client, players, [short], stages=Stages(print))

    # Rollouts became evidence, evidence a candidate, and the gate let it through: it helps on tasks it never saw.
    task = report.tasks[0]
    verdicts = {verdict.proposer: verdict.verdict for verdict in task.verdicts}
    assert verdicts["extract"] == "accepted"
    assert fmean(task.final) > fmean(task.baseline)

    # A copied trace and a harmful edit were offered as its next version, and are not.
    assert verdicts["copied-trace"] in ("rejected", "undecided")
    assert verdicts["harmful-edit"] in ("rejected", "undecided")
    assert [version.number for version in client.history(TASK).items] == [1]

    # The context that the last rollouts were shown holds exactly that version.
    version = client.get_version(TASK, 1)
    shown = [client.get_episode(episode.id) for episode in client.list_episodes(slice=TASK, split="test").items]
    exposed = {exposure["version_id"] for episode in shown for exposure in episode.exposures}
    assert exposed == {version.id}

    # Backwards from each sentence: version, candidate, decision, evidence, and episodes of successful play.
    sentences = client.blame(TASK, 1).sentences
    proven = [sentence for sentence in sentences if sentence.evidence]
    assert len(proven) >= 4
    for sentence in proven:
        assert sentence.decision["verdict"] == "accepted"
        for evidence in sentence.evidence:
            assert all(client.get_episode(episode_id).policy == "gold" for episode_id in evidence["episode_ids"])
