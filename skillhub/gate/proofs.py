"""The proofs of one gate side by side: differences in, state and reason out. An immutable value; each pair makes the next."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skillhub.gate import harm, improve, protect
from skillhub.gate.betting import Process
from skillhub.gate.policy import Policy

_OPEN = ("open", "more pairs are needed.")


@dataclass(frozen=True)
class Proof:
    """One statement about one slice, and how far the pairs have proven it.

    It is proven at the first crossing of its bar; its process stops there, so that the e-value is that of a stopping time.
    """

    name: str
    """`improve`, `protect` or `harm`."""
    slice: str
    process: Process
    log_bar: float

    @property
    def proven(self) -> bool:
        return self.process.log >= self.log_bar

    def after(self, d: float) -> "Proof":
        return self if self.proven else replace(self, process=self.process.after(d))

    def can_be_proven(self, *differences: tuple[float, int]) -> bool:
        """Whether these more `(difference, times)` would prove it."""
        process = self.process
        for d, times in differences:
            process = process.after(d, times=times)
        return self.proven or process.log >= self.log_bar

    def numbers(self) -> dict[str, Any]:
        log_e = self.process.log
        return {"slice": self.slice, "e": math.exp(min(log_e, 700.0)), "log_e": log_e, "bar": math.exp(self.log_bar),
                "proven": self.proven}  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """The pairs of one slice so far."""

    budget: int
    """Pairs the slice can give in all."""
    pairs: int = 0
    fixes: int = 0
    breaks: int = 0
    gained: float = 0.0
    """Sum of the differences above 0."""
    lost: float = 0.0
    """Sum of those below, as a positive number."""
    missing: int = 0

    @property
    def total(self) -> float:
        return self.gained - self.lost

    @property
    def left(self) -> int:
        return self.budget - self.pairs

    def after(self, d: float | None) -> "Seen":
        loss = -1.0 if d is None else d
        return replace(self, pairs=self.pairs + 1, fixes=self.fixes + (loss > 0), breaks=self.breaks + (loss < 0),
                       gained=self.gained + max(loss, 0.0), lost=self.lost + max(-loss, 0.0),
                       missing=self.missing + (d is None))  # fmt: skip

    def hoped(self, z: float) -> tuple[tuple[float, int], ...]:
        """`(difference, times)` of the pairs left, as good as can be hoped: `z` deviations more fixes and fewer breaks than
        seen (Wilson), each of the size seen."""
        fixes = round(self.left * _wilson(self.fixes, self.pairs, z))
        breaks = min(self.left - fixes, round(self.left * _wilson(self.breaks, self.pairs, -z)))
        up = self.gained / self.fixes if self.fixes else 1.0
        down = self.lost / self.breaks if self.breaks else 0.0
        return (up, fixes), (-down, breaks), (0.0, self.left - fixes - breaks)

    def numbers(self) -> dict[str, Any]:
        mean = self.total / self.pairs if self.pairs else None
        return {"pairs": self.pairs, "budget": self.budget, "fixes": self.fixes, "breaks": self.breaks,
                "missing": self.missing, "mean_d": mean}  # fmt: skip


@dataclass(frozen=True)
class Proofs:
    """All proofs of a gate. Accepted needs each of `needed`, no one of `harms`, and no break in a locked slice."""

    policy: Policy
    needed: tuple[Proof, ...]
    harms: tuple[Proof, ...]
    seen: Mapping[str, Seen]

    def after(self, slice: str, d: float | None) -> "Proofs":
        """After one more pair. A missing difference speaks for neither side: it is -1 to the good ones and +1 to harm."""
        loss, gain = (-1.0, 1.0) if d is None else (d, d)
        return replace(
            self,
            needed=tuple(proof.after(loss) if proof.slice == slice else proof for proof in self.needed),
            harms=tuple(proof.after(gain) if proof.slice == slice else proof for proof in self.harms),
            seen={**self.seen, slice: self.seen[slice].after(d)},
        )

    def outcome(self) -> tuple[str, str]:
        """State and reason as things stand. A reason to reject goes before a reason to accept."""
        return self._locked() or self._harmful() or self._accepted() or self._futile() or self._spent() or _OPEN

    def wanted(self) -> tuple[str, ...]:
        """Slices whose pairs are needed next: the target's first, for what does not help need not be proven harmless."""
        if not self.needed[0].proven:
            return (self.needed[0].slice,)
        slices = [proof.slice for proof in self.needed if not proof.proven] + list(self.policy.locked_slices)
        return tuple(name for name in dict.fromkeys(slices) if self.seen[name].left > 0)

    def numbers(self) -> dict[str, Any]:
        return {
            "improve": [proof.numbers() for proof in self.needed if proof.name == "improve"],
            "protect": [proof.numbers() for proof in self.needed if proof.name == "protect"],
            "harm": [proof.numbers() for proof in self.harms],
            "slices": {name: seen.numbers() for name, seen in self.seen.items()},
        }

    def _locked(self) -> tuple[str, str] | None:
        for name in self.policy.locked_slices:
            if self.seen[name].breaks:
                return "rejected", f"a case of the locked slice {name} got worse, and there none may."
        return None

    def _harmful(self) -> tuple[str, str] | None:
        for proof in self.harms:
            if proof.proven:
                return "rejected", f"on {proof.slice} the candidate is worse than the base: {_of(proof)}, {self._mean(proof)}."
        return None

    def _accepted(self) -> tuple[str, str] | None:
        if not all(proof.proven for proof in self.needed) or any(self.seen[n].left for n in self.policy.locked_slices):
            return None
        first, rest = self.needed[0], ", ".join(proof.slice for proof in self.needed[1:])
        guarded = f" and no loss of {self.policy.beta:g} or more on {rest}" if rest else ""
        return "accepted", f"on {first.slice} the candidate improves on the base: {_of(first)}, {self._mean(first)}{guarded}."

    def _futile(self) -> tuple[str, str] | None:
        for proof in self.needed:
            seen = self.seen[proof.slice]
            z = self.policy.optimism if proof.name == "improve" else self.policy.protect_optimism
            hoped = seen.hoped(z) if seen.pairs >= self.policy.futility_pairs else ((1.0, seen.left),)
            if not proof.can_be_proven(*hoped) and not self._harm_is_near(proof.slice):
                return "undecided", self._why_futile(proof, seen)
        return None

    def _spent(self) -> tuple[str, str] | None:
        pairs = sum(seen.pairs for seen in self.seen.values())
        unproven = ", ".join(f"`{proof.name}` on {proof.slice}" for proof in self.needed if not proof.proven)
        if pairs < self.policy.most_pairs:
            return None
        return "undecided", f"all {pairs} pairs that the test may take are used, without {unproven} being proven."

    def _harm_is_near(self, slice: str) -> bool:
        seen = self.seen[slice]
        more = min(seen.left, self.policy.futility_pairs)
        harms = [proof for proof in self.harms if proof.slice == slice]
        return bool(seen.pairs) and any(proof.can_be_proven((seen.total / seen.pairs, more)) for proof in harms)

    def _why_futile(self, proof: Proof, seen: Seen) -> str:
        test = f"`{proof.name}` on {proof.slice}"
        if not seen.left:
            return f"all {seen.pairs} pairs are used and {test} is not proven: {_of(proof)}."
        if not seen.fixes and not seen.breaks and seen.pairs:
            return f"{seen.pairs} pairs show no difference at all on {proof.slice}."
        return f"{test} stands at {_of(proof)}, which the {seen.left} pairs left cannot be hoped to reach."

    def _mean(self, proof: Proof) -> str:
        seen = self.seen[proof.slice]
        return f"mean difference {seen.total / seen.pairs:+.2f} over {seen.pairs} pairs"


def open_proofs(policy: Policy, alpha: float, *, target: str, protected: Sequence[str], budget: Mapping[str, int]) -> Proofs:
    """The proofs before the first pair."""
    slices = list(dict.fromkeys([target, *protected]))
    needed = [Proof("improve", target, improve.process(policy), math.log(1.0 / alpha))]
    needed += [Proof("protect", name, protect.process(policy), math.log(1.0 / policy.alpha_protect)) for name in protected]
    bar = harm.log_bar(policy, slices=len(slices))
    harms = [Proof("harm", name, harm.process(policy, margin=0.0 if name == target else policy.beta), bar) for name in slices]
    return Proofs(policy, tuple(needed), tuple(harms), {name: Seen(pairs) for name, pairs in budget.items()})


def _of(proof: Proof) -> str:
    return f"evidence {math.exp(min(proof.process.log, 700.0)):.1f} against the {math.exp(proof.log_bar):.1f} needed"


def _wilson(count: int, n: int, z: float) -> float:
    """Upper (z > 0) or lower (z < 0) end of Wilson's interval for a share."""
    share, square = count / n, z * z
    spread = z * math.sqrt(share * (1.0 - share) / n + square / (4.0 * n * n))
    return min(1.0, max(0.0, (share + square / (2.0 * n) + spread) / (1.0 + square / n)))
