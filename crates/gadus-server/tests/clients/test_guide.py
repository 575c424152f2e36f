"""The guide's examples: the commands of its `console` blocks print what stands there.

With GADUS_REWRITE set, what they print is written there instead.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import program, tool

PAGES = Path(__file__).parents[4] / "docs" / "guide"
BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
END = "\x03 end of a command"


class Shell:
    """A shell in a folder of its own that runs command after command."""

    def __init__(self, folder: Path) -> None:
        programs = [str(Path(program()).parent), str(Path(tool("psql")).parent)]
        path = os.pathsep.join([*programs, os.environ["PATH"]])
        self.process = subprocess.Popen(
            ["bash", "--norc"], cwd=folder, env={**os.environ, "PATH": path, "PSQLRC": os.devnull},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )

    def run(self, command: str) -> str:
        listening = re.search(r"--listen unix:(\S+).*&$", command)
        if listening:
            socket = f"{listening[1]}/.s.PGSQL.5432"
            command += f"\nuntil [ -S {socket} ] || ! jobs %1 > {os.devnull}; do sleep 0.05; done"
        self.process.stdin.write(f"{command}\necho '{END}'\n")
        self.process.stdin.flush()
        printed = ""
        for line in self.process.stdout:
            if line.rstrip("\n").endswith(END):
                return printed + line.removesuffix(f"{END}\n")
            printed += line
        raise AssertionError(f"the shell ended: {printed}")

    def close(self) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait(60) is not None


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path)
    yield shell
    shell.run("kill $(jobs -p) 2> /dev/null; wait")
    shell.close()


def commands(block: str) -> list[str]:
    return [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]


def trimmed(text: str) -> str:
    """Without the spaces that end lines, which editors take away."""
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip("\n")


def shown(shell: Shell, command: str) -> str:
    printed = trimmed(shell.run(command))
    return f"$ {command}\n{printed}\n" if printed else f"$ {command}\n"


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_examples_print_what_stands_there(shell: Shell, page: Path) -> None:
    text = page.read_text()

    def run(block: re.Match[str]) -> str:
        return "".join(shown(shell, command) for command in commands(block[0]))

    found = BLOCK.sub(run, text)
    if os.environ.get("GADUS_REWRITE"):
        page.write_text(found)
    assert page.read_text() == found
