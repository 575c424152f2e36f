"""PostgreSQL's own tests of what sessions see of each other, by its isolationtester.

The program comes with Debian's postgresql-15; its specs come from that package's source, fetched when the tests run.
`isolation.toml` says which of them give what they give in PostgreSQL, and of the others why not. GADUS_REWRITE writes
down what those give now. That a step fails is compared, not in which words.
"""

import difflib
import getpass
import hashlib
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from conftest import start

LIST = Path(__file__).parent / "isolation.toml"
SAID = tomllib.loads(LIST.read_text())


def isolationtester() -> Path:
    found = Path("/usr/lib/postgresql").glob("*/lib/pgxs/src/test/isolation/isolationtester")
    found = sorted(found, reverse=True)
    assert found, "isolationtester is missing: install postgresql-15"
    return found[0]


@pytest.fixture(scope="session")
def specs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the specs and of what they give."""
    kept = Path(os.environ.get("GADUS_KEPT") or tmp_path_factory.mktemp("kept"))
    package = "postgresql-" + isolationtester().parts[4]
    folder = kept / f"{package}-isolation"
    if not (folder / "specs").is_dir():
        fetch(package, folder)
    return folder


def fetch(package: str, folder: Path) -> None:
    """Has apt fetch a package's source, and verify it, with lists of its own."""
    made = folder.with_suffix(".new")
    subprocess.run(["rm", "-rf", made, folder], check=True)
    for state in ("lists/partial", "archives/partial"):
        (made / state).mkdir(parents=True)
    release = Path("/etc/os-release").read_text()
    suite = re.search(r"^VERSION_CODENAME=(\w+)$", release, re.MULTILINE)
    assert suite, "only Debian has the source of postgresql-15 where it is looked for"
    sources = made / "sources.list"
    sources.write_text(f"deb-src http://deb.debian.org/debian {suite[1]} main\n")
    own = {
        "Dir::Etc::sourcelist": sources, "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::lists": made / "lists", "Dir::Cache": made,
    }
    options = [part for name, value in own.items() for part in ("-o", f"{name}={value}")]
    source = ["source", "-qq", "--download-only", package]
    for arguments in (["update", "-qq"], source):
        command = ["apt-get", *options, *arguments]
        done = subprocess.run(command, cwd=made, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
    (archive,) = made.glob("*.orig.tar.*")
    members = ["--wildcards", "*/src/test/isolation/specs", "*/src/test/isolation/expected"]
    strip = ["--strip-components=4"]
    subprocess.run(["tar", "-xf", archive, *strip, *members], cwd=made, check=True, timeout=300)
    for rest in (archive, made / "lists", made / "archives"):
        subprocess.run(["rm", "-rf", rest], check=True)
    made.rename(folder)


def played(spec: Path, folder: Path) -> str:
    """What a spec gives here."""
    server = start(folder)
    where = " ".join([f"host={server.folder}", f"user={getpass.getuser()}", "dbname=shop"])
    # As PostgreSQL's own runner has it.
    settings = {"PGISOLATIONTIMEOUT": "5", "PGAPPNAME": f"isolation/{spec.stem}"}
    with spec.open() as text:
        done = subprocess.run(
            [isolationtester(), where], stdin=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=280, env={**os.environ, **settings},
        )
    assert server.stop() == 0
    return comparable(done.stdout)


def comparable(output: str) -> str:
    """What sessions saw, without the words of errors, and without how long what hangs is waited for."""
    output = re.sub(r"after \d+ seconds", "after its time", output)
    return re.sub(r"(ERROR: ) .*?(?=\n(?:step |starting permutation|\n)|\Z)", r"\1", output, flags=re.DOTALL)


def digest(output: str) -> str:
    return hashlib.sha256(output.encode()).hexdigest()[:16]


@pytest.mark.parametrize("name", [*SAID["same"], *SAID["differs"]])
def test_what_sessions_see_of_each_other(name: str, specs: Path, tmp_path: Path) -> None:
    given = played(specs / "specs" / f"{name}.spec", tmp_path)
    expected = sorted((specs / "expected").glob(f"{name}*.out"))
    expected = [file for file in expected if re.fullmatch(rf"{re.escape(name)}(_\d+)?\.out", file.name)]
    texts = [comparable(file.read_text()) for file in expected]
    assert texts
    difference = "\n".join(
        difflib.unified_diff(texts[0].splitlines(), given.splitlines(), "PostgreSQL", "Gadus", lineterm="")
    )
    if name in SAID["same"]:
        assert given in texts, difference
        return
    assert given not in texts, "it gives what PostgreSQL gives now: move it among those that do"
    said = SAID["differs"][name]
    if "GADUS_REWRITE" in os.environ:
        text = LIST.read_text()
        LIST.write_text(text.replace(said["gives"], digest(given)))
        return
    assert said["gives"] == digest(given), f"{digest(given)}\n{difference}"


def test_the_list_is_long_enough() -> None:
    assert len(SAID["same"]) + len(SAID["differs"]) >= 40
    assert all(said["why"] for said in SAID["differs"].values())
