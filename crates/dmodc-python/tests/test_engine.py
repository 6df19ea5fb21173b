"""Engines that are Python functions."""

from __future__ import annotations

import threading

import numpy
import pytest

import dmodc
from dmodc import SwitchTask


def by_number(task: SwitchTask) -> numpy.ndarray:
    """Chooses the port by the number of the destination."""
    counts = task.counts[task.targets]
    ports = task.ports[task.targets, task.numbers % numpy.maximum(counts, 1)]
    return numpy.where(counts > 0, ports, dmodc.NO_ROUTE)


def first(task: SwitchTask) -> list[int]:
    """Chooses the first port, entry by entry."""
    return [int(task.ports[target, 0]) if task.counts[target] else 255 for target in task.targets]


@pytest.fixture
def fabric() -> dmodc.Fabric:
    return dmodc.pgft("3; 2,2,3; 1,2,2; 1,2,1").degrade(cables="10%", seed=7)


@pytest.mark.parametrize("function", [by_number, first])
def test_own_engines_route(fabric: dmodc.Fabric, function: object) -> None:
    mine = dmodc.engine(function, name="mine")
    tables = fabric.route(mine)
    check = tables.check()
    assert check and check.up_down_violations == 0
    assert tables.engine == "mine" and "mine" in repr(tables)
    assert fabric.route(mine).digest == tables.digest, "the same bytes each time"
    assert tables.analyze("a2a")["a2a"].max >= fabric.route().analyze("a2a")["a2a"].bound


def test_an_engine_of_modulo_is_what_it_says() -> None:
    """On a healthy tree of two levels, the paper's formula at a leaf is the number modulo the ports."""
    fabric = dmodc.pgft("2; 4,4; 1,4; 1,1")
    mine, paper = fabric.route(dmodc.engine(by_number)), fabric.route("paper")
    nodes = {node.lid for node in fabric.nodes}
    ours, theirs = mine.array(), paper.array()
    columns = [at for at, lid in enumerate(ours.labels.lids) if lid in nodes]
    assert (ours.array[:, columns] == theirs.array[:, columns]).all()


def test_wrong_answers_are_reported_by_name(fabric: dmodc.Fabric) -> None:
    def refused(function: object, why: str, strict: bool = True) -> None:
        with pytest.raises(dmodc.EngineError, match=why) as error:
            fabric.route(dmodc.engine(function, name="odd", strict=strict))
        assert "the engine 'odd': switch '" in str(error.value)
        if why.startswith("ZeroDivision"):
            assert isinstance(error.value.__cause__, ZeroDivisionError), "the traceback leads into the function"

    refused(lambda task: by_number(task)[:-1], "ports for .* destinations")
    refused(lambda task: [99] * len(task.lids), "no working cable")
    refused(lambda task: [99] * len(task.lids), "no working cable", strict=False)
    refused(lambda task: [-1] * len(task.lids), "no port")
    refused(lambda task: [0.5] * len(task.lids), "float64 instead of whole numbers")
    refused(lambda task: [by_number(task)], "2 dimensions")
    refused(lambda task: 1 / 0, "ZeroDivisionError: division by zero")
    refused(lambda task: None, "dimensions")
    refused(lambda task: fabric.route() and None, "only chooses ports")


def test_ports_outside_closer_sets_are_refused_or_judged(fabric: dmodc.Fabric) -> None:
    def anywhere(task: SwitchTask) -> list[int]:
        """Sends everything to one port, which is right for some destinations only."""
        port = int(task.ports[task.counts.argmax(), 0])
        return [port] * len(task.lids)

    with pytest.raises(dmodc.EngineError, match="not in the closer set"):
        fabric.route(dmodc.engine(anywhere))
    check = fabric.route(dmodc.engine(anywhere, strict=False)).check()
    assert not check.sound and check.loops > 0


def test_own_engines_in_studies() -> None:
    plan = """
name = "own"
draws = 3
engines = ["dmodc", "random"]
patterns = ["a2a"]
[[fabric]]
pgft = "3; 2,2,3; 1,2,2; 1,2,1"
[[degradation]]
cables = [0, "5%"]
"""
    seen = set()

    def watched(task: SwitchTask) -> numpy.ndarray:
        seen.add(threading.get_ident())
        return by_number(task)

    def failing(task: SwitchTask) -> numpy.ndarray:
        raise ValueError("no idea")

    engines = [dmodc.engine(watched, "mine"), dmodc.engine(failing, "bad")]
    table = dmodc.study(plan, engines=engines)
    rows = table.rows
    assert {row["engine"] for row in rows} == {"dmodc", "random", "mine", "bad"}
    mine = [row for row in rows if row["engine"] == "mine"]
    assert len(mine) == 4 and all(row["lost"] == "0" and int(row["max"]) >= int(row["bound"]) for row in mine)
    assert all("no idea" in row["refused"] for row in rows if row["engine"] == "bad")
    assert seen and threading.get_ident() not in seen
    assert dmodc.study(plan, engines=[dmodc.engine(by_number, "mine")]).lines == tuple(
        line for line in table.lines if ",bad," not in line
    )
    with pytest.raises(dmodc.InputError, match="two engines"):
        dmodc.study(plan, engines=[engines[0], engines[0]])


def test_own_engines_in_routers_and_surveys(fabric: dmodc.Fabric) -> None:
    mine = dmodc.engine(by_number, "mine")
    router = dmodc.Router(fabric, mine)
    before = router.tables().digest
    assert router.apply(fail=["L3-0"]).entries > 0
    assert router.apply(repair=["L3-0"]).entries > 0
    assert router.tables().digest == before
    assert fabric.whatif(mine, parts="switches").engine == "mine"
    with pytest.raises(dmodc.InputError):
        dmodc.engine(by_number, name="")
