"""Traces of many episodes -> drafts: one skill for each kind of task that was solved, and rules that hold across kinds."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from skillhub.curation.contrast import cautions
from skillhub.curation.draft import Claim, Draft
from skillhub.curation.generalise import generalise
from skillhub.curation.render import Sentence, document, sentence, slug
from skillhub.curation.rules import rules
from skillhub.documents import parse
from skillhub.documents.sections import sentences
from skillhub.rollouts.trace import Trace


def extract(successes: Sequence[Trace], failures: Sequence[Trace] = ()) -> list[Draft]:
    """A skill for each slice, by name. The same traces give the same drafts."""
    won, lost = _by_slice(successes), _by_slice(failures)
    return [_skill(name, won[name], lost.get(name, [])) for name in sorted(won)]


def extract_rules(successes: Sequence[Trace]) -> list[Draft]:
    """What held in every episode of several slices, by name."""
    return rules(_by_slice(successes))


def _skill(slice_: str, successes: list[Trace], failures: list[Trace]) -> Draft:
    template, steps = generalise(successes)
    lines = [Sentence(sentence(s), s.episodes) for s in steps]
    warnings = cautions(template, successes, failures)
    name = slug(slice_)
    traces = [*successes, *failures]
    task = template.text()
    text = document(
        name=name,
        description=f"How to do this kind of task: {task}"[:1000],
        task=task,
        title=slice_.replace("-", " ").capitalize(),
        steps=[s.text for s in lines],
        cautions=[s.text for s in warnings],
    )
    everyone = tuple(range(len(successes)))
    claims = [_claim("task", Sentence(s.text, everyone), traces) for s in sentences(parse(text)) if s.anchor == "task"]
    claims += [_claim("steps", s, traces) for s in lines] + [_claim("cautions", s, traces) for s in warnings]
    return Draft(
        name=name,
        kind="skill",
        slice=slice_,
        document=text,
        claims=tuple(claims),
        rationale=f"{len(successes)} successful and {len(failures)} failed episodes aligned; {len(lines)} steps shared.",
    )


def _claim(anchor: str, line: Sentence, traces: Sequence[Trace]) -> Claim:
    ids = tuple(traces[i].episode_id for i in line.episodes)
    return Claim(anchor, line.text, ids, line.polarity, weight=float(len(ids)))


def _by_slice(traces: Sequence[Trace]) -> Mapping[str, list[Trace]]:
    groups: dict[str, list[Trace]] = defaultdict(list)
    for trace in sorted(traces, key=lambda t: t.episode_id):
        groups[trace.slice].append(trace)
    return groups
