"""Optimising a skill from the command line: a program of yours proposes, runners play the trials, the gate decides."""

import json
import subprocess
import time
from typing import TYPE_CHECKING, Annotated

import typer

from skillhub.cli.root import app
from skillhub.cli.terminal import DEFAULT_DATA_DIR, DataDir, Key, Url, expected_failures, open_client, say
from skillhub.errors import Invalid, Unavailable

if TYPE_CHECKING:
    from skillhub_client import Client
    from skillhub_client.models import Optimisation

PAUSE_SECONDS = 0.5


@app.command()
@expected_failures
def optimise(
    skill: str,
    suite: Annotated[str, typer.Option(help="Suite whose `train` cases are screened and whose `dev` cases decide.")],
    budget: Annotated[int, typer.Option(help="Trials it may pay, of screen and gate together.")],
    proposer: Annotated[
        str, typer.Option(help="Command that reads `{document, failures, count}` as JSON and writes a JSON list of proposals.")
    ],
    seed: Annotated[int, typer.Option(help="Of the choice of cases.")] = 0,
    url: Url = "",
    key: Key = "",
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Search for a better version of a skill. Its trials are played by whatever runs `run_trials` for the suite."""
    with open_client(url, key, data_dir) as client:
        search = client.start_optimisation(skill, suite=suite, budget=budget, proposer=proposer[:200], seed=seed)
        try:
            search = _followed(client, search, proposer)
        except BaseException:
            client.cancel_optimisation(search.id)
            raise
    typer.echo(f"{search.state}: {search.reason}. {search.skill}@{search.base} after {search.spent} trials")
    raise typer.Exit(0 if search.state == "finished" else 1)


def _followed(client: "Client", search: "Optimisation", command: str) -> "Optimisation":
    """Answer what the search asks, and tell how far it is, until it is over."""
    told = None
    while search.state == "running":
        if (now := (search.waits_for, search.spent)) != told:
            waits = search.waits_for or "a worker"
            say(f"{search.spent:6} of {search.budget} trials, {search.skill}@{search.base}, waits for {waits}")
            told = now
        if search.waits_for == "propose":
            asked = client.get_asked(search.id).model_dump()
            search = client.answer_with_proposals(search.id, _proposed(command, asked))
        else:
            time.sleep(PAUSE_SECONDS)
            search = client.get_optimisation(search.id)
    return search


def _proposed(command: str, asked: dict) -> list[dict]:
    """What the command proposes; Unavailable where it fails, Invalid where it writes something else."""
    done = subprocess.run(command, shell=True, input=json.dumps(asked), capture_output=True, text=True)
    if done.returncode:
        raise Unavailable(f"the proposer ended with status {done.returncode}: {done.stderr.strip()[-500:]}")
    try:
        found = json.loads(done.stdout)
    except ValueError as error:
        raise Invalid(f"the proposer wrote no JSON: {error}") from error
    if not isinstance(found, list):
        raise Invalid("the proposer must write a JSON list of proposals")
    return found
