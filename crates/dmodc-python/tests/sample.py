"""Uses the whole package in one file, for the checker of types. It also runs."""

from __future__ import annotations

import numpy
import numpy.typing

import dmodc


def choose(task: dmodc.SwitchTask) -> numpy.typing.NDArray[numpy.uint8]:
    """Chooses the first port of each closer set."""
    if task.ports.shape[1] == 0:
        return numpy.full(len(task.lids), dmodc.NO_ROUTE, numpy.uint8)
    ports: numpy.typing.NDArray[numpy.uint8] = task.ports[task.targets, 0]
    return ports


fabric: dmodc.Fabric = dmodc.pgft("3; 2,2,3; 1,2,2; 1,2,1")
rest = fabric.degrade(cables="10%", seed=7)
tables: dmodc.Tables = rest.route(engine="stable", reference=fabric)
check: dmodc.Check = tables.check()
delivered: int = check.delivered
risk: int = tables.analyze(["a2a", "sp"])["a2a"].max
rates = tables.rates("sp")["sp"].rates
first: numpy.typing.NDArray[numpy.uint8] = tables.tiles()[0]
loads: numpy.typing.NDArray[numpy.uint64] = tables.analyze("a2a").loads("a2a")
mine: dmodc.Engine = dmodc.engine(choose, name="first")
engines: list[str | dmodc.Engine] = ["dmodc", mine]
worst: dict[str, int] = {str(engine): rest.route(engine).analyze("a2a")["a2a"].max for engine in engines}
order: tuple[str, ...] = rest.order().hosts
router = dmodc.Router(fabric)
delta: dmodc.Delta = router.apply(fail=["L2-0"])
survey: dmodc.WhatIf = fabric.whatif(parts="switches")
assert check and risk > 0 and rates and first.size and loads.size and order and delta.entries and survey.faults and worst
