"""`skillhub validate` says what the reference validator says, but for the departures that docs/skill-format.md lists."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import skills_ref
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillhub.documents.skillmd import MAX_DOCUMENT_BYTES, MAX_FRONTMATTER_CHARACTERS
from skillhub.folders import judged

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"

Departure = Callable[[bytes, str], bool]
DEPARTURES: dict[str, Departure] = {
    "fence": lambda content, said: "`---` ends the frontmatter" in said and bool(re.search(rb"[^\r\n]---", content[3:])),
    "comment": lambda content, said: "starts a comment" in said and b"#" in content,
    "escape": lambda content, said: "an escape stands for" in said and b"\\" in content,
    "nul": lambda content, said: "a NUL character" in said and b"\0" in content,
    "encoding": lambda content, said: "not valid UTF-8" in said and not _is_utf8(content),
    "crash": lambda content, said: bool(said),
    "limit": lambda content, said: (
        ("at most" in said and len(content) > min(MAX_DOCUMENT_BYTES, MAX_FRONTMATTER_CHARACTERS)) or "nested deeper" in said
    ),
    "folder": lambda content, said: False,  # not a matter of content; it has a test of its own
    "dot": lambda content, said: False,
}
"""Name in the table -> whether it explains that we refuse these bytes with this message."""

PIECES = st.sampled_from(
    [
        "name", "description", "license", "compatibility", "metadata", "allowed-tools", "a", "d", ":", ": ", "- ", "--",
        "---", " ", "  ", "\n", "\n  ", "\n    ", "\n- ", "\n  - ", " # c", "#", "'", '"', "|", ">", "|-", ">+", "|2",
        "\t", "?", "? ", "!x ", "&x ", "*x", "[", "]", "{", "}", "[a, b]", "{a: b}", "%", "%YAML 1.1\n", "@", "`", "<<",
        "<<: ", "=", "null", "~", "true", "1", "0x1", "2020-01-01", '"\\x41"', '"\\ud800"', "\r", "\r\n", "\x85",
        "\u2028", "\ufeff", "\x0b", "\x07", "\x7f", "é", "é", "技能", "😀", "\xa0", "\u200b", "...", "\n...\n", "\n---\n",
        "\\", "''", '""', "k: v", "a: 1\n", "metadata:\n  a:\n    b: c\n", "\x00",
    ]
)  # fmt: skip
NAMES = st.one_of(
    st.sampled_from(
        ["a", "A", "a_b", "-a", "a--b", "навык", "Навык", "技能", "ﬁ", "ａｂ", "x²", "ẞ", "हिन्दी", "null", "1", "a" * 65]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="/\0\n\r\\"), min_size=1, max_size=12),
)
FIELDS = st.dictionaries(
    st.sampled_from(["license", "compatibility", "metadata", "allowed-tools", "extra", "Name", "description", "name"]),
    st.lists(PIECES, max_size=4).map("".join),
    max_size=3,
)
WRITTEN = st.sampled_from(
    ["{}", "{}", "{}", '"{}"', "'{}'", "|\n  {}", ">-\n  {}", "\n  {}", "\n  - {}", " {}  ", "!!str {}", "&b {}"]
)


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, bytes]:
    """A folder's name and the bytes of a SKILL.md, mostly near to valid."""
    name = draw(NAMES)
    description = draw(
        st.one_of(st.sampled_from(["d", "words here", "x" * 1024, "x" * 1025, ""]), st.lists(PIECES).map("".join))
    )
    lines = [f"name: {draw(WRITTEN).format(name)}", f"description: {draw(WRITTEN).format(description)}"]
    lines += [f"{key}: {value}" for key, value in draw(FIELDS).items()]
    if draw(st.booleans()):
        lines = ["name: a", "description: d", *lines[2:]]
        name = "a"
    text = (
        "---\n" + "\n".join(draw(st.permutations(lines))) + "\n---" + draw(st.sampled_from(["\n", "", "\nbody", "x", " \n# T"]))
    )
    for piece in draw(st.lists(PIECES, max_size=2)):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + piece + text[at:]
    content = text.replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))).encode("utf-8", "surrogatepass")
    content = draw(st.sampled_from([b""] * 12 + [b"\xef\xbb\xbf", b"\n"])) + content
    return draw(st.sampled_from([*[name] * 9, "other"])), content + draw(st.sampled_from([b""] * 15 + [b"\xe9"]))


def test_the_verdicts_are_those_of_the_reference_over_generated_documents() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=1500, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(documents(), st.sampled_from(["SKILL.md", "SKILL.md", "SKILL.md", "skill.md", "Skill.md"]))
    def compare(document: tuple[str, bytes], file: str) -> None:
        with TemporaryDirectory() as root:
            seen[compared(Path(root), *document, file=file)] += 1

    compare()
    print(f"\ngenerated corpus: {sum(seen.values())} documents, {dict(seen.most_common())}")
    assert seen["valid"] > 100 and seen["invalid"] > 100


def test_the_verdicts_are_those_of_the_reference_over_real_skills(tmp_path: Path) -> None:
    if not DATA.exists():
        pytest.skip(f"the real skills are not at {DATA}")
    seen = Counter(compared(tmp_path / str(i), *skill, file="SKILL.md") for i, skill in enumerate(real_skills()))
    print(f"\nreal skills: {sum(seen.values())}, {dict(seen.most_common())}")
    assert seen["valid"] > 300 and sum(seen.values()) == seen["valid"] + seen["invalid"]


def test_the_table_lists_exactly_the_departures_that_this_test_allows() -> None:
    text = (ROOT / "docs" / "skill-format.md").read_text()
    table = text[text.index("| departure |") : text.index("## Bundled files")]
    assert [row.split("|")[1].strip() for row in table.splitlines()[2:] if row] == list(DEPARTURES)


@pytest.mark.parametrize(
    ("departure", "content"),
    [
        ("fence", b"---\nname: a\ndescription: x --- y\nlicense: MIT\n---\n"),
        ("comment", b"---\nname: a\ndescription: use a # b\n---\n"),
        ("escape", b'---\nname: a\ndescription: "\\ud800"\n---\n'),
        ("nul", b"---\nname: a\ndescription: d\n---\na\0"),
        ("encoding", b"---\nname: a\ndescription: \xe9\n---\n"),
        ("crash", b"---\nname: a\ndescription: \x07\n---\n"),
        ("crash", b"---\nname: a\ndescription: d\nmetadata:\n\n- \n\n  - \n  - x\n  - y: 1\n---\n"),
        ("limit", b"---\nname: a\ndescription: d\nlicense: " + b"x" * 70_000 + b"\n---\n"),
        ("limit", b"---\nname: a\ndescription: d\nmetadata:\n" + b"".join(b" " * i + b"k:\n" for i in range(1, 12)) + b"---\n"),
    ],
)
def test_each_departure_is_one(tmp_path: Path, departure: str, content: bytes) -> None:
    assert compared(tmp_path, "a", content, file="SKILL.md") == departure


def test_a_folder_in_place_of_the_document_is_no_skill_and_crashes_the_reference(tmp_path: Path) -> None:
    (tmp_path / "a" / "SKILL.md").mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        skills_ref.validate(tmp_path / "a")
    assert [verdict.valid for verdict in judged(tmp_path / "a")] == [False]


def test_a_point_has_the_name_of_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "SKILL.md").write_text("---\nname: a\ndescription: d\n---\n")
    monkeypatch.chdir(tmp_path / "a")
    assert skills_ref.validate(Path("."))
    assert [verdict.valid for verdict in judged(Path("."))] == [True]


@pytest.mark.parametrize("linked", ["folder", "document"])
def test_links_are_judged_as_the_reference_judges_them(tmp_path: Path, linked: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "SKILL.md").write_text("---\nname: a\ndescription: d\n---\n")
    if linked == "folder":
        (tmp_path / "b").symlink_to(tmp_path / "a", target_is_directory=True)
    else:
        (tmp_path / "x" / "a").mkdir(parents=True)
        (tmp_path / "x" / "a" / "SKILL.md").symlink_to(tmp_path / "a" / "SKILL.md")
    place = tmp_path / ("b" if linked == "folder" else "x/a")
    (verdict,) = judged(place)
    assert verdict.valid == (skills_ref.validate(place) == [])
    assert linked == "folder" or "symbolic link" in verdict.warnings[0]["message"]


def compared(root: Path, name: str, content: bytes, *, file: str) -> str:
    """`valid`, `invalid`, or the departure; fails where the verdicts differ without one."""
    folder = root / name
    try:
        folder.mkdir(parents=True)
        (folder / file).write_bytes(content)
    except (OSError, ValueError, UnicodeError):
        return "no such folder name"
    (ours,) = judged(folder)
    assert ours.valid or ours.errors[0]["message"]
    theirs = _theirs(folder)
    if theirs != "crash" and ours.valid == (theirs == "valid"):
        return theirs
    said = "; ".join(error["message"] for error in ours.errors)
    reasons = [
        key for key, explains in DEPARTURES.items() if (key == "crash") <= (theirs == "crash") and explains(content, said)
    ]
    assert not ours.valid and reasons, f"reference: {theirs}, ours: {said or 'valid'}, for {content!r} in {name!r}"
    return reasons[0]


def _theirs(folder: Path) -> str:
    try:
        return "invalid" if skills_ref.validate(folder) else "valid"
    except Exception:
        return "crash"


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def real_skills() -> Iterator[tuple[str, bytes]]:
    """Name and SKILL.md of every skill of the data: as its author may have written it, quoted and unquoted."""
    for path in (DATA / "skills_corpus" / "skills.jsonl", *DATA.glob("skill_retrieval/corpus.jsonl")):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            body = row.get("body") or row.get("text") or ""
            for description in (json.dumps(row["description"], ensure_ascii=False), row["description"]):
                head = f"---\nname: {row['name']}\ndescription: {description}\n---\n"
                yield row["name"].replace("/", "-"), (head + body).encode()
