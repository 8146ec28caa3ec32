"""A played trace as the episode record that the SDK sends."""

from skillhub_client import Context, EpisodeIn

from skillhub.rollouts.trace import Trace


def episode_of(trace: Trace, *, key: str, variation: int, split: str, policy: str, context: Context | None = None) -> EpisodeIn:
    """`key` is the recorder's own id: sending it twice stores the episode once."""
    steps = [
        {"observation": step.observation, "action": step.action, "reward": step.reward, "score": step.score}
        for step in trace.steps
    ]
    exposures = [
        {"version_id": entry.version_id, "rank": entry.rank, "score": entry.score}
        for entry in (context.entries if context else ())
    ]
    return EpisodeIn(
        key=key,
        environment="scienceworld",
        task=trace.task,
        slice=trace.slice,
        split=split,
        policy=policy,
        score=trace.score,
        success=trace.success,
        context_id=context.context_id if context else None,
        attributes={"variation": variation},
        steps=steps,
        exposures=exposures,
    )
