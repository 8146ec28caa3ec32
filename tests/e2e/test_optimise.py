"""The command that optimises, against a real hub with a real worker, a runner and a proposer that is a program."""

import os
import subprocess
import sys
import threading
from pathlib import Path

from skillhub_client import CaseIn, Client, TrialLease, TrialResult
from skillhub_client.evaluate import run_trials

from skillhub.stack import Stack
from tests.conftest import ROOT

DOCUMENT = "---\nname: cook\ndescription: Cooks.\n---\n\n## Steps\n\nHeat it.\n"
PROPOSER = """
import json, sys
asked = json.load(sys.stdin)
added = {"op": "add", "anchor": "steps", "text": "Stir what fries."}
print(json.dumps([] if "Stir" in asked["document"] else [{"targets": list(asked["failures"]), "operations": [added]}]))
"""


def play(trial: TrialLease) -> TrialResult:
    known = trial.case.slice == "boil" or "Stir" in "".join(shown.document for shown in trial.documents)
    return TrialResult(score=float(known))


def test_the_command_finds_the_repair_and_the_gate_puts_it_into_production(tmp_path: Path) -> None:
    cases = [
        CaseIn(key=f"{slice}-{split}-{i}", split=split, slice=slice, spec={"of": [slice, split, i]})
        for slice in ("boil", "fry") for split, count in (("train", 8), ("dev", 40)) for i in range(count)
    ]  # fmt: skip
    (tmp_path / "propose.py").write_text(PROPOSER)
    over = threading.Event()
    with Stack(tmp_path / "hub") as stack:
        key = stack.create_key("optimiser")
        with Client(stack.url, key) as client:
            client.create_skill("cook", DOCUMENT)
            client.put_suite("kitchen", cases)
            facts = {"runner": "tests", "until": over.is_set, "poll_seconds": 0.05}
            runner = threading.Thread(target=run_trials, args=(client, play), kwargs=facts)
            runner.start()
            command = [sys.executable, "-m", "skillhub.cli", "optimise", "cook", "--suite", "kitchen", "--budget", "600"]
            environment = os.environ | {"SKILLHUB_URL": stack.url, "SKILLHUB_API_KEY": key, "PYTHONPATH": str(ROOT)}
            proposer = f"{sys.executable} {tmp_path / 'propose.py'}"
            done = subprocess.run(
                [*command, "--proposer", proposer], env=environment, capture_output=True, text=True, timeout=300
            )
            over.set()
            runner.join()
            print(done.stderr.splitlines()[-3:], done.stdout)
            assert done.returncode == 0, done.stderr
            assert "finished" in done.stdout and "cook@2" in done.stdout
            assert "Stir what fries." in client.get_version("cook", client.get_label("cook", "production").number).document
