"""Python answers what the command answers, byte for byte; only times differ."""

from __future__ import annotations

import pathlib
import random
import re

import pytest
from conftest import Command, random_directors, random_pgft

import dmodc

CASES = 120


def timeless(json: str) -> str:
    """Returns a report without its times."""
    return re.sub(r'("[a-z_]*_ms": )[0-9.e+-]+', r"\g<1>0", json)


class Case:
    """A random fabric with random options, for Python and for the command."""

    def __init__(self, seed: int, folder: pathlib.Path, command: Command) -> None:
        self.draw = draw = random.Random(seed)
        self.command, self.folder = command, folder
        self.whole_file, self.file = folder / "whole.topo", folder / "fabric.topo"
        shuffled = draw.random() < 0.4
        how = {"guids": "shuffled" if shuffled else "topological", "seed": draw.randint(1, 1000)}
        options = ["--guids", how["guids"], "--seed", how["seed"], "-o", self.whole_file]
        if draw.random() < 0.6:
            tuple_ = random_pgft(draw)
            self.whole = dmodc.pgft(tuple_, **how)
            command("generate", "pgft", tuple_, *options)
        else:
            numbers = random_directors(draw)
            self.whole = dmodc.directors(**numbers, **how)
            flags = [word for name, value in numbers.items() for word in (f"--{name}", value)]
            command("generate", "directors", *flags, *options)
        self.degrade()
        self.engine = draw.choice(["dmodc", "dmodc", "paper", "stable", "stable+relief", "random", "dmodc+relief"])
        self.seed = draw.randint(1, 99)
        self.order = draw.choice(
            [{}, {}, {"destination_order": "lid"}, {"destination_order": "guid", "switch_order": "guid"}]
        )
        self.reference = self.engine.startswith("stable") and draw.random() < 0.5

    def degrade(self) -> None:
        draw = self.draw
        cables = draw.choice(["0", "1", "5%", "10%", "20%"])
        switches = draw.choice(["0", "0", "1"])
        seed = draw.randint(1, 99)
        remove = [draw.choice(self.whole.switches).guid] if draw.random() < 0.2 else []
        flags = [word for part in remove for word in ("--remove", part)]
        arguments = ["--cables", cables, "--switches", switches, "--seed", seed, *flags]
        try:
            self.fabric = self.whole.degrade(cables=cables, switches=switches, seed=seed, remove=remove)
            self.command("degrade", self.whole_file, *arguments, "-o", self.file)
        except dmodc.InputError:
            # A fabric without upper switches cannot lose one, and the command says so, too.
            self.command("degrade", self.whole_file, *arguments, "-o", self.file, ok=(2,))
            self.fabric = self.whole
            self.file.write_bytes(self.whole_file.read_bytes())

    @property
    def order_flags(self) -> list[str]:
        return [word for name, value in self.order.items() for word in ("--" + name.replace("_", "-"), value)]

    @property
    def flags(self) -> list[object]:
        reference = ["--reference", self.whole_file] if self.reference else []
        return ["--engine", self.engine, "--seed", self.seed, *self.order_flags, *reference]

    @property
    def options(self) -> dict[str, object]:
        reference = {"reference": self.whole} if self.reference else {}
        return {"engine": self.engine, "seed": self.seed, **self.order, **reference}


@pytest.mark.parametrize("seed", range(CASES))
def test_random_case(seed: int, tmp_path: pathlib.Path, command: Command) -> None:
    case = Case(seed, tmp_path, command)
    assert dmodc.read(case.file) == case.fabric, "the fabric of the file is the same"
    try:
        tables = case.fabric.route(**case.options)
    except dmodc.DmodcError as error:
        assert command("route", case.file, *case.flags, "--json", ok=(2,)) == "", error
        return
    for name in ("tables.lft", "tables.npy"):
        theirs, ours = tmp_path / name, tmp_path / f"python-{name}"
        command("route", case.file, *case.flags, "-o", theirs)
        tables.write(ours)
        assert ours.read_bytes() == theirs.read_bytes(), name
    labels = tmp_path / "python-tables.npy.json"
    assert labels.read_bytes() == (tmp_path / "tables.npy.json").read_bytes()
    compare_judgement(case, tables)
    read = dmodc.read_tables(tmp_path / "tables.lft", dmodc.read(case.file), **case.order)
    compare_judgement(case, read)
    compare_advice(case, tables)


def compare_judgement(case: Case, tables: dmodc.Tables) -> None:
    files = (case.file, case.folder / "tables.lft")
    check = case.command("check", *files, *case.order_flags, "--json")
    assert timeless(tables.check().json) == timeless(check)
    seed = case.draw.randint(1, 99)
    patterns = case.draw.choice(["a2a", "a2a,rp:20,sp", "sp:5,bisection:10", "ring,recursive-doubling", "tree,a2a:phases"])
    rates = case.draw.random() < 0.4
    flags = ["--patterns", patterns, "--seed", seed, *(["--rates"] if rates else [])]
    analyze = case.command("analyze", *files, *case.order_flags, *flags, "--json")
    assert timeless(tables.analyze(patterns, seed=seed, rates=rates).json) == timeless(analyze)


def compare_advice(case: Case, tables: dmodc.Tables) -> None:
    if case.fabric.cable_count + case.fabric.switch_count <= 120:
        parts = case.draw.choice(["cables", "switches", "both"])
        double = case.draw.choice([None, None, 5])
        flags = ["--parts", parts, *(["--double", double] if double else [])]
        whatif = case.command("whatif", case.file, *case.flags, *flags, "--json")
        assert timeless(case.fabric.whatif(parts=parts, double=double, **case.options).json) == timeless(whatif)
        if case.draw.random() < 0.3:
            compare_maintenance(case)
    try:
        order = case.fabric.order(**case.options).json
    except dmodc.DmodcError:
        case.command("order", case.file, *case.flags, "--json", ok=(2,))
        return
    assert order == case.command("order", case.file, *case.flags, "--json")
    if not case.engine.endswith("relief"):
        assert tables.order().json == order
    given = dmodc.read_tables(case.folder / "tables.lft", case.fabric, **case.order)
    flags = ["--seed", case.seed, *case.order_flags]
    hosts = [node.name.split()[0] for node in case.fabric.nodes]
    case.draw.shuffle(hosts)
    list_ = case.folder / "hosts"
    list_.write_text("".join(f"{host}\n" for host in hosts))
    theirs = case.command("order", case.file, case.folder / "tables.lft", *flags, "--hosts", list_, "--json", ok=(0, 1, 2))
    if theirs:
        assert given.order(list_).json == theirs
    else:
        with pytest.raises(dmodc.DmodcError):
            given.order(list_)


def compare_maintenance(case: Case) -> None:
    """Compares the orders in which parts are taken out and repaired."""
    parts = [switch.guid for switch in case.draw.sample(case.fabric.switches, min(3, case.fabric.switch_count))]
    parts += [f"{cable.guid}/{cable.port}" for cable in case.fabric.cables[:2]]
    list_ = case.folder / "parts"
    list_.write_text("".join(f"{part}\n" for part in parts))
    keep = case.draw.choice(["lost=0", "lost=10,a2a=2x"])
    flags = ["--parts", list_, "--keep", keep, "--shifts", 20]
    drain = case.fabric.drain(parts, keep=keep, shifts=20, **case.options)
    assert timeless(drain.json) == timeless(case.command("drain", case.file, *case.flags, *flags, "--json"))
    repair = dmodc.read(case.file).repair(dmodc.read(case.whole_file), steps=3, shifts=20, **case.order)
    flags = ["--reference", case.whole_file, "--steps", 3, "--shifts", 20, *case.order_flags]
    assert timeless(repair.json) == timeless(case.command("repair", case.file, *flags, "--json"))


def test_studies_are_the_same(tmp_path: pathlib.Path, command: Command) -> None:
    plan = tmp_path / "small.toml"
    plan.write_text(
        'name = "small"\ndraws = 2\nengines = ["dmodc", "stable", "random"]\npatterns = ["a2a", "sp"]\nrates = true\n'
        '[[fabric]]\npgft = "2; 4,4; 1,4; 1,1"\n[[degradation]]\ncables = [0, "5%"]\n'
    )
    command("study", "run", plan, "-o", tmp_path / "out")
    assert dmodc.study(plan).csv == (tmp_path / "out" / "small.csv").read_text()


def test_leaf_options_are_the_same(tmp_path: pathlib.Path, command: Command) -> None:
    fabric = dmodc.pgft("3; 2,2,3; 1,2,2; 1,2,1")
    fabric.write(tmp_path / "f.topo")
    roots = tmp_path / "roots"
    roots.write_text(fabric.switches[-1].guid + "\n")
    for options, flags in [
        ({"leaf_min_nodes": 2}, ["--leaf-min-nodes", 2]),
        ({"leaf_name": "^L1-"}, ["--leaf-name", "^L1-"]),
        ({"roots": roots}, ["--roots", roots]),
        ({"exclude": "H-0"}, ["--exclude", "H-0"]),
    ]:
        tables = fabric.route(**options)
        tables.write(tmp_path / "ours.lft")
        command("route", tmp_path / "f.topo", *flags, "-o", tmp_path / "theirs.lft")
        assert (tmp_path / "ours.lft").read_bytes() == (tmp_path / "theirs.lft").read_bytes()
        check = command("check", tmp_path / "f.topo", tmp_path / "theirs.lft", *flags, "--json")
        assert timeless(tables.check().json) == timeless(check)


def test_formats_are_the_same(tmp_path: pathlib.Path, command: Command) -> None:
    fabric = dmodc.preset("paper-figure-1")
    fabric.write(tmp_path / "f.topo")
    for format in ("ibnetdiscover", "json", "dot", "graphml", "ibsim"):
        command("convert", tmp_path / "f.topo", "--format", format, "-o", tmp_path / "theirs")
        fabric.write(tmp_path / "ours", format)
        assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes(), format
