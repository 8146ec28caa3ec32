"""Drafts that a gate has to turn down: a recorded episode copied as it is, and a good skill with a harmful edit."""

import re
from dataclasses import replace

from skillhub.curation.draft import Claim, Draft
from skillhub.curation.render import document
from skillhub.rollouts.trace import Trace

_HARM = "Focus on the inventory, to have everything at hand."


def copied_trace(trace: Trace, *, name: str) -> Draft:
    """One episode's actions word for word as the skill `name`: what a memory without generalisation would store."""
    steps = [step.action for step in trace.steps]
    text = document(
        name=name,
        description=f"What was done to solve this task: {trace.task}"[:1000],
        task=trace.task,
        title=f"{trace.slice.replace('-', ' ').capitalize()} (one episode)",
        steps=steps,
        cautions=[],
    )
    claims = tuple(Claim("steps", step, (trace.episode_id,)) for step in steps)
    return Draft(name, "skill", trace.slice, text, claims, f"Copied from episode {trace.episode_id}.")


def harmful(draft: Draft) -> Draft:
    """The same document with one more first step, which commits the agent before it knows what the task needs."""
    head, _, steps = draft.document.partition("## Steps\n\n")
    renumbered = re.sub(r"^(\d+)\.", lambda m: f"{int(m[1]) + 1}.", steps, flags=re.MULTILINE)
    return replace(
        draft,
        document=f"{head}## Steps\n\n1. {_HARM}\n{renumbered}",
        claims=(*draft.claims, Claim("steps", _HARM, ())),
        rationale="Saves time: takes stock before the first step.",
    )
