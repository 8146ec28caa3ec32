"""House rules of migrations: code of the release before works on the new schema, and no table is locked for long."""

import ast
import re
from pathlib import Path

import pytest

from skillhub.store import schema

FILES = sorted((schema.MIGRATIONS / "versions").glob("*.py"))[1:]


def upgrade_of(path: Path) -> str:
    functions = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]
    return "\n".join(ast.unparse(function) for function in functions if function.name != "downgrade")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_migration_only_expands(path: Path) -> None:
    source = upgrade_of(path)
    assert not re.search(r"drop_column|drop_table|rename|alter_column|drop_constraint", source)
    for column in re.findall(r"op\.add_column\(.*", source):
        assert "nullable=True" in column or "server_default" in column, column


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_migration_locks_no_table_that_is_in_use(path: Path) -> None:
    source = upgrade_of(path)
    made = set(re.findall(r"op\.create_table\('(\w+)'", source))
    for call in re.findall(r"op\.(?:create|drop)_index\(.*", source):
        table = re.search(r"(?:, |table_name=)'(\w+)'", call)
        assert (table and table[1] in made) or "postgresql_concurrently=True" in call, call
    for call in re.findall(r"op\.create_(?:foreign_key|check_constraint|unique_constraint)\(.*", source):
        assert "postgresql_not_valid=True" in call, call


def test_there_is_one_line_of_revisions_and_each_file_bears_its_number() -> None:
    assert schema.revisions() == [path.stem[:4] for path in [schema.MIGRATIONS / "versions" / "0001", *FILES]]
