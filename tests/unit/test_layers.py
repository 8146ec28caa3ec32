"""The direction of imports: leaves <- models <- {stages, safety, documents, store, retrieval} <- services <- {api, workers}."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LEAVES = {"config", "errors", "ids", "hashing", "tracing"}
STAGES = {"rollouts", "evidence", "curation", "gate", "context", "optimise", "harness"}
MIDDLE = STAGES | {"safety", "documents", "store", "retrieval", "llm", "evaluation"}
HEAVY = {"torch", "faiss", "sentence_transformers", "transformers"}
IMPURE = {"sqlmodel", "sqlalchemy", "psycopg", "httpx", "requests", "socket", "time", "random", "secrets"}


def modules(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def layer(module: str) -> tuple[int, str]:
    """Height of a dotted module of ours, and the part it belongs to; `cli` and the files beside the leaves are edges."""
    top, _, rest = module.partition(".")
    part = rest.split(".")[0]
    if top in ("api", "workers"):
        return 4, top
    if part == "cli" or (part not in LEAVES and (ROOT / "skillhub" / f"{part}.py").exists()):
        return 5, "edge"
    heights = {"services": 3, "models": 1} | dict.fromkeys(MIDDLE, 2) | dict.fromkeys(LEAVES, 0) | {"": 0}
    return heights[part], part


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported(path: Path, *, at_import_only: bool = False) -> Iterator[str]:
    """Dotted names a file imports; `from a import b` counts as `a.b`, so that `from skillhub import documents` is seen."""
    tree = ast.parse(path.read_text())
    for node in _module_level(tree) if at_import_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _module_level(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
            yield from _module_level(node)


def ours(name: str) -> bool:
    return name.split(".")[0] in ("skillhub", "api", "workers")


@pytest.mark.parametrize("path", modules("skillhub", "api", "workers"), ids=name_of)
def test_a_module_imports_only_from_its_own_part_or_below(path: Path) -> None:
    height, part = layer(name_of(path))
    for name in filter(ours, imported(path)):
        if name.startswith("skillhub.__"):
            continue
        other_height, other_part = layer(name)
        assert other_height < height or other_part == part or (height == other_height == 2), f"imports {name}"


@pytest.mark.parametrize("path", modules(*(f"skillhub/{stage}" for stage in sorted(STAGES))), ids=name_of)
def test_a_stage_is_pure(path: Path) -> None:
    for name in imported(path):
        assert name.split(".")[0] not in IMPURE, f"imports {name}"
        assert not name.startswith(("skillhub.store", "skillhub.models", "skillhub.retrieval")), f"imports {name}"
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)]
    assert not {"now", "utcnow", "today"} & {node.attr for node in calls}, "reads the clock"


@pytest.mark.parametrize("path", modules("skillhub/store", "skillhub/documents"), ids=name_of)
def test_store_and_documents_do_not_know_the_stages(path: Path) -> None:
    allowed = {"store", "documents", "models", *LEAVES}
    parts = {name.split(".")[1] for name in imported(path) if name.startswith("skillhub.")}
    assert parts <= allowed, parts - allowed


@pytest.mark.parametrize("path", modules("skillhub", "api", "workers"), ids=name_of)
def test_heavy_libraries_are_imported_late_and_only_in_retrieval(path: Path) -> None:
    heavy = {name for name in imported(path) if name.split(".")[0] in HEAVY}
    early = {name for name in imported(path, at_import_only=True) if name.split(".")[0] in HEAVY}
    assert not early, "imported when the module is"
    assert not heavy or name_of(path).startswith("skillhub.retrieval.")


@pytest.mark.parametrize("path", modules("skillhub", "api", "workers", "clients"), ids=name_of)
def test_only_the_command_line_knows_the_demo(path: Path) -> None:
    if not name_of(path).startswith("skillhub.cli."):
        assert not [name for name in imported(path) if name.split(".")[0] == "demo"]


@pytest.mark.parametrize("path", modules("clients"), ids=name_of)
def test_the_client_stands_alone(path: Path) -> None:
    assert not [name for name in imported(path) if ours(name)]


@pytest.mark.parametrize("path", modules("skillhub", "api", "workers"), ids=name_of)
def test_only_services_open_transactions_and_only_the_session_commits(path: Path) -> None:
    if name_of(path) != "skillhub.store.session":
        attributes = {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}
        assert "commit" not in attributes


@pytest.mark.parametrize("module", ["api.app", "skillhub.cli"])
def test_importing_the_api_or_the_command_line_loads_no_model_library(module: str) -> None:
    code = f"import sys, {module}; print([name for name in {sorted(HEAVY)} if name in sys.modules])"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
