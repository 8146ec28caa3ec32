"""All of skillhub on one machine: embedded servers, migrated schema, API and worker as child processes of this one.

In: a data folder. Out: the URL of the API. Nothing is left running when the owner stops, is interrupted or is killed: what it
cannot stop itself the guardian stops, and what that cannot the next start on the same folder stops.
"""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import httpx
import psutil

from skillhub import embedded, guardian, processes
from skillhub.config import Settings
from skillhub.errors import Conflict, SkillhubError
from skillhub.processes import Child, Record, Roster

if TYPE_CHECKING:
    from skillhub.services.scope import Scope

WORKSPACE = "default"
LOCAL_KEY = "local"
"""Name of the key that commands on the same machine use while the stack runs; each start revokes the one before."""
DEFAULT_PORT = 8420
WATCH_SECONDS = 0.25

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Running:
    """What other commands on this machine need to know of a running stack; kept in a file that only its owner reads."""

    pid: int
    url: str
    database_url: str
    broker_url: str
    key: str

    @classmethod
    def find(cls, data_dir: Path) -> "Running | None":
        """The stack that runs in that folder, where there is one."""
        try:
            running = cls(**json.loads(_running_file(data_dir).read_text()))
        except (FileNotFoundError, NotADirectoryError):
            return None
        return running if psutil.pid_exists(running.pid) else None


class Stack:
    """`with Stack(folder, progress=print) as stack: use(stack.url)`."""

    url: str
    """Where the API answers."""

    def __init__(
        self, data_dir: Path, *, progress: Progress = lambda line: None, host: str = "127.0.0.1", port: int | None = None
    ) -> None:
        self.data_dir = data_dir.expanduser().resolve()
        self._progress = progress
        self._host = host
        self._port = port
        self._settings = Settings()
        self._roster = Roster(self.data_dir / "processes.json")
        self._children: list[Child] = []
        self._postgres: embedded.Postgres | None = None
        self._guardian: subprocess.Popen[bytes] | None = None
        self._lock: int | None = None

    def start(self) -> None:
        """Start everything; on any failure stop what was started."""
        for folder in (self.data_dir, self.data_dir / "logs"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = _locked(self.data_dir)
        try:
            self._stop_leftovers()
            self._start_guardian()
            self._start_servers()
            self._migrate()
            self._start_processes()
            self._write_running()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop everything, in reverse order of the start. Safe to call twice."""
        processes.stop([child.record for child in self._children])
        self._children.clear()
        if self._postgres:
            self._postgres.clean_up()
        if self._guardian and self._guardian.stdin:
            self._roster.clear()
            self._guardian.stdin.close()
            self._guardian.wait()
        if self._lock is not None:
            _running_file(self.data_dir).unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> "Stack":
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def check(self) -> None:
        """ProcessFailed where a process ended that should run."""
        for child in self._children:
            child.check()

    def watch(self) -> NoReturn:
        """ProcessFailed as soon as a process ends; KeyboardInterrupt goes through."""
        while True:
            self.check()
            time.sleep(WATCH_SECONDS)

    def create_key(self, name: str, *, workspace: str = WORKSPACE) -> str:
        """A new admin key of a workspace, which is made where it is not there."""
        from skillhub.services import keys

        return keys.create_key(self._scope(workspace), name=name, secret=self._settings.secret)

    def first_key(self) -> str | None:
        """An admin key where the default workspace was never given one; for whoever shows it to a person, once."""
        from skillhub.services import keys

        with workspace_scope(self._settings.database_url, WORKSPACE) as scope:
            known = keys.has_keys(scope, besides=LOCAL_KEY)
        return None if known else self.create_key("admin")

    def _scope(self, workspace: str):
        from skillhub.services import keys
        from skillhub.services.scope import Scope
        from skillhub.store.session import Database

        database = Database(self._settings.database_url, pool_size=1)
        return Scope(database=database, workspace_id=keys.ensure_workspace(database, workspace), actor="system")

    def _stop_leftovers(self) -> None:
        """What an owner left that was killed; its guardian first, so that it does not stop our processes."""
        records = self._roster.read()
        guardians = [record for record in records if record.name == guardian.NAME]
        processes.stop(guardians)
        processes.stop([record for record in records if record not in guardians])
        self._roster.clear()

    def _start_guardian(self) -> None:
        command = [sys.executable, "-m", "skillhub.guardian", str(self._roster.path)]
        self._guardian = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
        created = processes.created_at(self._guardian.pid)
        self._roster.add(Record(guardian.NAME, self._guardian.pid, created, signal.SIGKILL))

    def _start_servers(self) -> None:
        """PostgreSQL and Valkey side by side, each only where the settings name no other."""
        logs = self.data_dir / "logs"
        known = {"data_dir": self.data_dir, "secret": self._settings.secret or embedded.ensure_secret(self.data_dir)}
        waits = []
        if not self._settings.database_url:
            self._progress(f"PostgreSQL starts in {self.data_dir / 'postgres'}")
            self._postgres = embedded.Postgres(self.data_dir / "postgres", log=logs / "postgres.log")
            waits.append(("database_url", self._postgres, self._add(self._postgres.start())))
        if not self._settings.broker_url:
            password = embedded.ensure_secret(self.data_dir, "broker-password")
            valkey = embedded.Valkey(password=password, log=logs / "valkey.log")
            waits.append(("broker_url", valkey, self._add(valkey.start())))
        known |= {field: server.wait(child) for field, server, child in waits}
        self._settings = self._settings.model_copy(update=known)

    def _migrate(self) -> None:
        from skillhub.store import schema

        self._progress("the schema is brought up to date")
        schema.upgrade(self._settings.database_url)

    def _start_processes(self) -> None:
        with self._listening() as listener:
            self.url = f"http://{self._host}:{listener.getsockname()[1]}"
            self._progress("API and worker start")
            api = self._run("API", "serve", "--fd", str(listener.fileno()), pass_fds=(listener.fileno(),))
        self._run("worker", "worker")
        deadline = time.monotonic() + embedded.START_SECONDS
        while not _ready(self.url):
            api.check()
            if time.monotonic() > deadline:
                raise SkillhubError(f"the API does not answer after {embedded.START_SECONDS:.0f} s; see {api.log}")
            time.sleep(0.05)
        self.check()

    def _listening(self) -> socket.socket:
        """A socket on the port asked for; where none was, on the default one, or a free one where that is taken.

        The API inherits it: nobody can take the port in between, and nobody else can answer in its place.
        """
        try:
            return socket.create_server((self._host, DEFAULT_PORT if self._port is None else self._port))
        except OSError as error:
            if self._port is not None:
                raise Conflict(f"port {self._port} of {self._host} cannot be used: {error.strerror}") from error
            return socket.create_server((self._host, 0))

    def _run(self, name: str, *arguments: str, pass_fds: Sequence[int] = ()) -> Child:
        """Start a command of this program with the settings of this stack."""
        settings = self._settings.model_dump(include={"database_url", "broker_url", "secret", "data_dir"}, mode="json")
        env = os.environ | {f"SKILLHUB_{field.upper()}": str(value) for field, value in settings.items()}
        command = [sys.executable, "-m", "skillhub.cli", *arguments]
        log = self.data_dir / "logs" / f"{name.lower()}.log"
        return self._add(processes.spawn(name, command, log=log, env=env, pass_fds=pass_fds))

    def _add(self, child: Child) -> Child:
        self._children.append(child)
        self._roster.add(child.record)
        return child

    def _write_running(self) -> None:
        """Last of all: whoever reads it finds a stack that is ready."""
        from skillhub.services import keys

        with workspace_scope(self._settings.database_url, WORKSPACE) as scope:
            keys.revoke_keys(scope, name=LOCAL_KEY)
        running = Running(
            pid=os.getpid(),
            url=self.url,
            database_url=self._settings.database_url,
            broker_url=self._settings.broker_url,
            key=self.create_key(LOCAL_KEY),
        )
        processes.write_private(_running_file(self.data_dir), json.dumps(asdict(running)))


@contextmanager
def workspace_scope(database_url: str, workspace: str) -> Iterator["Scope"]:
    """The system as the actor in a workspace, which is made where it is not there."""
    from skillhub.services import keys
    from skillhub.services.scope import Scope
    from skillhub.store.session import Database

    database = Database(database_url, pool_size=1)
    try:
        yield Scope(database=database, workspace_id=keys.ensure_workspace(database, workspace), actor="system")
    finally:
        database.dispose()


def _running_file(data_dir: Path) -> Path:
    return data_dir / "running.json"


def _locked(data_dir: Path) -> int:
    """Descriptor of the folder's lock, held until it is closed or this process ends; Conflict where another holds it."""
    descriptor = os.open(data_dir / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.read(descriptor, 20).decode() or "another"
        os.close(descriptor)
        raise Conflict(
            f"the data folder {data_dir} is in use by process {owner}; stop that one or take another folder"
        ) from None
    os.truncate(descriptor, 0)
    os.write(descriptor, str(os.getpid()).encode())
    return descriptor


def _ready(url: str) -> bool:
    with suppress(httpx.HTTPError):
        return httpx.get(f"{url}/readyz", timeout=2.0, trust_env=False).status_code == 200
    return False
