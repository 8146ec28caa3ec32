"""Kind of job -> what does it. A handler gets its claim, works, and changes things only inside `claim.effect()`."""

from collections.abc import Callable, Mapping

from skillhub.services import curation, gates, searching
from skillhub.services.jobs import Claim

Handler = Callable[[Claim], None]

HANDLERS: Mapping[str, Handler] = {
    curation.SKILLS_JOB: curation.run_skills,
    curation.RULES_JOB: curation.run_rules,
    gates.OPTIMISATION_JOB: searching.advance,
}
