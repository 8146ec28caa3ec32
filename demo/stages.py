"""Says what happens and keeps how long each stage took, in seconds."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Say = Callable[[str], None]


class Stages:
    """`with stages("extract", "extracting candidates"): ...`; the times stand in `seconds` by name."""

    def __init__(self, say: Say) -> None:
        self.seconds: dict[str, float] = {}
        self._say = say
        self._started = time.monotonic()

    @property
    def total(self) -> float:
        """Since the first stage could begin."""
        return round(time.monotonic() - self._started, 1)

    def say(self, line: str) -> None:
        self._say(f"{time.monotonic() - self._started:5.0f} s  {line}")

    @contextmanager
    def __call__(self, name: str, line: str) -> Iterator[None]:
        self.say(line)
        started = time.monotonic()
        yield
        self.seconds[name] = round(time.monotonic() - started, 1)
