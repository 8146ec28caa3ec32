"""The processes of one data folder: started in sessions of their own, written down, stopped in order, also by a successor.

A process is known by its id and time of creation, so that a reused id is never hit.
"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from skillhub.errors import SkillhubError

PATIENCE_SECONDS = 15.0
"""How long a process may take to stop before it is killed."""
SAME_SECONDS = 2.0
"""Creation times closer than this are the same: the clock they are computed from may be adjusted in between."""


class ProcessFailed(SkillhubError):
    """A process of the stack ended that should run."""

    code = "process_failed"


@dataclass(frozen=True)
class Record:
    """A process as it is written down."""

    name: str
    pid: int
    created: float
    """Seconds since the epoch."""
    stop_signal: int

    def process(self) -> psutil.Process | None:
        """The process, where it still runs."""
        with suppress(psutil.Error):
            process = psutil.Process(self.pid)
            if abs(process.create_time() - self.created) < SAME_SECONDS and runs(process):
                return process
        return None


class Roster:
    """The file in which a data folder's processes stand, in order of their start."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Record]:
        try:
            return [Record(**item) for item in json.loads(self.path.read_text())]
        except FileNotFoundError:
            return []

    def add(self, record: Record) -> None:
        write_private(self.path, json.dumps([asdict(item) for item in [*self.read(), record]]))

    def clear(self) -> None:
        self.path.unlink(missing_ok=True)


class Child:
    """A process that this one started and watches; what it prints goes to `log`."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], *, log: Path, stop_signal: int) -> None:
        self.name = name
        self.process = process
        self.log = log
        self.record = Record(name=name, pid=process.pid, created=created_at(process.pid), stop_signal=stop_signal)

    def check(self) -> None:
        """ProcessFailed, with the end of its log, where it no longer runs."""
        code = self.process.poll()
        if code is not None:
            raise ProcessFailed(f"{self.name} {_ended(code)}. The end of {self.log}:\n{tail(self.log)}")


def spawn(
    name: str,
    command: Sequence[str],
    *,
    log: Path,
    env: Mapping[str, str] | None = None,
    stdin: bytes | None = None,
    stop_signal: int = signal.SIGTERM,
    **options: Any,
) -> Child:
    """Start a process in a session of its own (Ctrl-C reaches only the one who started it), with `stdin` as its whole input."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=env,
            **options,
        )
    if stdin is not None and process.stdin:
        with suppress(BrokenPipeError), process.stdin:
            process.stdin.write(stdin)
    return Child(name, process, log=log, stop_signal=stop_signal)


def stop(records: Sequence[Record]) -> None:
    """Stop in reverse order of start, one after the other; kill what does not go in time."""
    for record in reversed(records):
        process = record.process()
        if process is None:
            continue
        with suppress(psutil.NoSuchProcess):
            process.send_signal(record.stop_signal)
        if not _wait_gone(process, PATIENCE_SECONDS):
            with suppress(ProcessLookupError):
                os.killpg(record.pid, signal.SIGKILL)
            _wait_gone(process, PATIENCE_SECONDS)


def created_at(pid: int) -> float:
    """When the process was made, in seconds since the epoch."""
    return psutil.Process(pid).create_time()


def runs(process: psutil.Process) -> bool:
    """Whether it still does anything; a zombie that nobody collects does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def tail(log: Path, lines: int = 15) -> str:
    """The last lines of a log, indented."""
    text = log.read_text(errors="replace") if log.exists() else ""
    return "\n".join(f"    {line}" for line in text.splitlines()[-lines:])


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner reads, whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    draft.replace(path)


def _wait_gone(process: psutil.Process, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while runs(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _ended(code: int) -> str:
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
