"""What the tests share: the command, and random fabrics."""

from __future__ import annotations

import os
import pathlib
import random
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]


class Command:
    """The program dmodc."""

    def __init__(self, program: str) -> None:
        self.program = program

    def __call__(self, *arguments: object, ok: tuple[int, ...] = (0, 1)) -> str:
        run = subprocess.run(
            [self.program, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=300
        )
        assert run.returncode in ok, (arguments, run.stderr)
        return run.stdout


@pytest.fixture(scope="session")
def command() -> Command:
    program = os.environ.get("DMODC_PROGRAM", str(ROOT / "target/debug/dmodc"))
    if not os.access(program, os.X_OK):
        pytest.skip(f"there is no program {program}; build it with 'cargo build -p dmodc-cli'")
    return Command(program)


def random_pgft(draw: random.Random) -> str:
    """Returns a random PGFT of at most some hundred nodes."""
    levels = draw.choice([2, 2, 3, 3, 4])
    most = {2: 6, 3: 4, 4: 3}[levels]
    down = [draw.randint(2, most) for _ in range(levels)]
    up = [1] + [draw.randint(1, 3) for _ in range(levels - 1)]
    parallel = [1] + [draw.randint(1, 2) for _ in range(levels - 1)]
    return "; ".join([str(levels), *(",".join(map(str, row)) for row in (down, up, parallel))])


def random_directors(draw: random.Random) -> dict[str, int | str]:
    """Returns random numbers of directors."""
    directors = draw.choice([1, 2, 2, 3])
    return {
        "leaves": draw.randint(2, 8),
        "nodes": draw.randint(1, 5),
        "directors": directors,
        "lines": draw.randint(1, 4),
        "spines": draw.randint(1, 4),
        "cables": directors * draw.randint(1, 3),
        "parallel": draw.choice([1, 1, 2]),
        "spread": draw.choice(["consecutive", "strided"]),
    }
