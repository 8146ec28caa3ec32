"""What a ranking by words costs in PostgreSQL and in memory, in one run: `python -m tests.bench.lexical URL`.

URL is a scratch database. Documents have 200 words of a Zipf vocabulary, queries 20, joined by OR.
Prints medians in milliseconds.
"""

import random
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median

import numpy as np
import psycopg

from skillhub.retrieval.lexical import LexicalIndex

SIZES = (200, 2_000, 10_000)
QUERIES = 9
VECTORS = {"stored tsvector": "stored", "parsed at search": "to_tsvector('english', document)"}
RANKED = """
SELECT id FROM bench_text WHERE {vector} @@ to_tsquery('english', %(q)s)
ORDER BY ts_rank({vector}, to_tsquery('english', %(q)s)) DESC LIMIT 50
"""


def main(url: str) -> None:
    rng = random.Random(1)
    vocabulary = ["".join(rng.choices("bcdfglmnprst", k=2)) + rng.choice("aeiou") + str(n) for n in range(4000)]
    weights = [1 / (n + 1) for n in range(len(vocabulary))]
    text = lambda words: " ".join(rng.choices(vocabulary, weights, k=words))  # noqa: E731
    with psycopg.connect(url, autocommit=True) as connection:
        for size in SIZES:
            documents, queries = [text(200) for _ in range(size)], [text(20) for _ in range(QUERIES)]
            fill(connection, documents)
            print(f"{size} documents: in memory {in_memory(documents, queries)}", end="")
            for name, vector in VECTORS.items():
                print(f", {name} {timed(queries, partial(ranked, connection, vector))}", end="", flush=True)
            print()
        connection.execute("DROP TABLE bench_text")


def fill(connection: psycopg.Connection, documents: Sequence[str]) -> None:
    connection.execute("DROP TABLE IF EXISTS bench_text")
    connection.execute(
        "CREATE TABLE bench_text (id int, document text, "
        "stored tsvector GENERATED ALWAYS AS (to_tsvector('english', document)) STORED)"
    )
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO bench_text (id, document) VALUES (%s, %s)", list(enumerate(documents)))
    connection.execute("CREATE INDEX ON bench_text USING gin (stored)")
    connection.execute("ANALYZE bench_text")


def ranked(connection: psycopg.Connection, vector: str, query: str) -> None:
    connection.execute(RANKED.format(vector=vector), {"q": " | ".join(set(query.split()))}).fetchall()


def in_memory(documents: Sequence[str], queries: Sequence[str]) -> float:
    index = LexicalIndex()
    index.add(documents)
    everything = np.ones(len(documents), dtype=bool)
    index.search(queries, allowed=everything, k=50)
    return timed(queries, lambda q: index.search([q], allowed=everything, k=50))


def timed(queries: Sequence[str], search: Callable[[str], object]) -> float:
    """Median milliseconds of a query."""
    seconds = []
    for query in queries:
        started = time.perf_counter()
        search(query)
        seconds.append(time.perf_counter() - started)
    return round(median(seconds) * 1000, 2)


if __name__ == "__main__":
    main(sys.argv[1])
