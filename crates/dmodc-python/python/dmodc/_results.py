"""Results. Each is what a command prints with ``--json``, as an object that does not change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _html, _native
from ._errors import InputError

if TYPE_CHECKING:
    import numpy
    import numpy.typing
    import pandas

    #: Loads of ports.
    Loads = numpy.typing.NDArray[numpy.uint64]
    #: Ports, one byte each.
    Ports = numpy.typing.NDArray[numpy.uint8]
    #: Numbers that say which one.
    Places = numpy.typing.NDArray[numpy.uint32]


def _parsed(text: str) -> dict[str, Any]:
    # Not every program that imports this package reads a report.
    import json

    return dict(json.loads(text))


@dataclass(frozen=True)
class Check:
    """The judgement of tables. ``data`` has everything that ``dmodc check --json`` prints."""

    sound: bool
    valid: bool | None
    pairs: int
    delivered: int
    lost: int
    cut_off: int
    loops: int
    deadlock_free: bool
    up_down_violations: int
    json: str = field(repr=False)

    @classmethod
    def _of(cls, json: str) -> Check:
        data = _parsed(json)
        names = ("sound", "valid", "pairs", "delivered", "lost", "cut_off", "loops", "deadlock_free", "up_down_violations")
        return cls(**{name: data[name] for name in names}, json=json)

    @property
    def data(self) -> dict[str, Any]:
        """Returns the report as a dictionary."""
        return _parsed(self.json)

    def __bool__(self) -> bool:
        """Returns whether the tables are sound and deliver every pair."""
        return self.sound and self.delivered == self.pairs

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("pairs of nodes", self.pairs),
            ("delivered", self.delivered),
            ("lost", self.lost),
            ("cut off", self.cut_off),
            ("in a loop", self.loops),
            ("free of deadlock", self.deadlock_free),
            ("routes that go up after down", self.up_down_violations),
            ("the cables connect every leaf with every other", self.valid),
        ]
        whole = "every pair is delivered" if self.delivered == self.pairs else "NOT every pair is delivered"
        return _html.table(f"sound, {whole}" if self.sound else f"NOT SOUND, {whole}", rows)


@dataclass(frozen=True)
class Pattern:
    """The congestion risk of a pattern of traffic: the flows on the worst port, and the least that any tables could have."""

    pattern: str
    max: int
    mean: float
    bound: int
    rates: Mapping[str, Any] | None = field(repr=False)
    data: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Analysis:
    """The congestion risk of tables. ``data`` has everything that ``dmodc analyze --json`` prints."""

    nodes: int
    pairs: int
    delivered: int
    patterns: tuple[Pattern, ...]
    json: str = field(repr=False)
    #: The directed ports between switches: GUID and port of the sender, GUID of the switch at the other end.
    ports: tuple[tuple[str, int, str], ...] = field(repr=False)
    _loads: tuple[tuple[str, _native.View | Loads], ...] = field(repr=False, compare=False)

    @classmethod
    def _of(cls, parts: tuple[str, list[tuple[str, int, str]], list[tuple[str, _native.View]]]) -> Analysis:
        json, ports, loads = parts
        data = _parsed(json)
        found = [of for of in data.values() if isinstance(of, dict) and "pattern" in of]
        order = {name: at for at, (name, _) in enumerate(loads)}
        found.sort(key=lambda of: order[of["pattern"]])
        patterns = tuple(
            Pattern(of["pattern"], of["max"], of["mean"], of["bound"], of.get("rates"), of) for of in found
        )
        return cls(data["nodes"], data["pairs"], data["delivered"], patterns, json, tuple(ports), tuple(loads))

    @property
    def data(self) -> dict[str, Any]:
        """Returns the report as a dictionary."""
        return _parsed(self.json)

    def __getitem__(self, pattern: str) -> Pattern:
        """Returns a pattern by its name, such as ``"a2a"`` or ``"rp:1000"``. ``"rp"`` is enough if there is only one."""
        for of in self.patterns:
            if of.pattern == pattern:
                return of
        alike = [of for of in self.patterns if of.pattern.partition(":")[0] == pattern]
        if len(alike) > 1:
            raise KeyError(f"{pattern} is not unique: {', '.join(of.pattern for of in alike)}")
        if not alike:
            raise KeyError(pattern)
        return alike[0]

    def __getstate__(self) -> dict[str, Any]:
        """Copies the loads, because memory of the extension module cannot be pickled."""
        return {**self.__dict__, "_loads": tuple((name, self.loads(name)) for name, _ in self._loads)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def loads(self, pattern: str) -> Loads:
        """Returns the flows on each of ``ports`` as a NumPy array, without a copy. For a series of patterns, it is the
        greatest load of each port."""
        import numpy

        name = self[pattern].pattern
        view = next(view for of, view in self._loads if of == name)
        return numpy.asarray(view)

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a frame with a row for each directed port and a column for each pattern."""
        import pandas

        frame = pandas.DataFrame(list(self.ports), columns=["guid", "port", "peer_guid"])
        for of in self.patterns:
            frame[of.pattern] = self.loads(of.pattern)
        return frame

    def _repr_html_(self) -> str:
        head = ("pattern", "worst port", "bound", "× bound", "mean")
        rows = [
            (of.pattern, of.max, of.bound, of.max / of.bound if of.bound else None, of.mean) for of in self.patterns
        ]
        return _html.grid(f"{self.delivered:,} of {self.pairs:,} pairs of {self.nodes:,} nodes delivered", head, rows)


@dataclass(frozen=True)
class WhatIf:
    """What every fault would do. ``rows`` are groups of faults that are alike, the most harmful first."""

    engine: str
    faults: int
    now: Mapping[str, Any]
    rows: tuple[Mapping[str, Any], ...] = field(repr=False)
    json: str = field(repr=False)

    @classmethod
    def _of(cls, json: str) -> WhatIf:
        data = _parsed(json)
        return cls(data["engine"], data["faults"], data["now"], tuple(data["rows"]), json)

    @property
    def data(self) -> dict[str, Any]:
        """Returns the report as a dictionary."""
        return _parsed(self.json)

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a frame with a row for each group of faults."""
        import pandas

        return pandas.DataFrame(list(self.rows))

    def _repr_html_(self) -> str:
        keys = ("part", "kind", "alike", "interrupted", "lost", "cut_off", "a2a", "entries")
        rows = [[row.get(key) for key in keys] for row in self.rows[:20]]
        return _html.grid(f"{self.faults:,} faults with the engine {self.engine}", keys, rows)


@dataclass(frozen=True)
class Order:
    """Hosts in an order in which their traffic meets least."""

    hosts: tuple[str, ...]
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    json: str = field(repr=False)

    @classmethod
    def _of(cls, json: str) -> Order:
        data = _parsed(json)
        return cls(tuple(data["hosts"]), data["before"], data["after"], json)

    @property
    def data(self) -> dict[str, Any]:
        """Returns the report as a dictionary."""
        return _parsed(self.json)

    def _repr_html_(self) -> str:
        keys = [key for key in self.after if key != "bounds"]
        rows = [(key, self.before[key], self.after[key], self.after["bounds"].get(key)) for key in keys]
        return _html.grid(f"{len(self.hosts):,} hosts", ("", "before", "after", "bound"), rows)


@dataclass(frozen=True)
class Drain:
    """Which parts can be taken out of service together."""

    #: Whether all parts of the list can.
    all_safe: bool
    #: The parts that can, in the notation of ``degrade``, in the order in which they are best taken out.
    order: tuple[str, ...]
    #: The parts that cannot.
    unsafe: tuple[str, ...]
    json: str = field(repr=False)

    @classmethod
    def _of(cls, json: str) -> Drain:
        data = _parsed(json)
        order, others = ((step["part"] for step in data[key]) for key in ("order", "unsafe"))
        return cls(data["all_safe"], tuple(order), tuple(others), json)

    @property
    def data(self) -> dict[str, Any]:
        """Returns the report as a dictionary."""
        return _parsed(self.json)

    def _repr_html_(self) -> str:
        keys = ("part", "name", "lost", "a2a", "sp")
        rows = [[step[key] for key in keys] for step in self.data["order"]]
        return _html.grid("all parts are safe" if self.all_safe else f"{len(self.unsafe)} parts are not safe", keys, rows)


@dataclass(frozen=True)
class Repair:
    """The order in which dead parts are best repaired."""

    #: The number of dead parts.
    dead: int
    #: The parts, in the notation of ``degrade``.
    order: tuple[str, ...]
    json: str = field(repr=False)

    @classmethod
    def _of(cls, json: str) -> Repair:
        data = _parsed(json)
        return cls(data["dead"], tuple(step["part"] for step in data["steps"]), json)

    @property
    def data(self) -> dict[str, Any]:
        """Returns the report as a dictionary."""
        return _parsed(self.json)

    def _repr_html_(self) -> str:
        keys = ("part", "name", "lost", "a2a", "sp", "left")
        return _html.grid(f"{self.dead} dead parts", keys, [[step[key] for key in keys] for step in self.data["steps"]])


@dataclass(frozen=True, eq=False)
class Changes:
    """Entries that changed. All arrays have the same length; place by place, they are one entry."""

    #: The places of their switches in ``Delta.switches``.
    switches: Places
    #: The LIDs of their destinations.
    lids: Places
    #: The ports before, and 255 where there was no route.
    before: Ports
    #: The ports after.
    after: Ports

    def __len__(self) -> int:
        return len(self.lids)


@dataclass(frozen=True)
class Delta:
    """What a change did to tables."""

    #: The number of entries that changed.
    entries: int
    #: The GUIDs of the switches whose tables changed.
    switches: tuple[str, ...] = field(repr=False)
    #: How long it took, in milliseconds.
    milliseconds: float = field(compare=False)
    #: The single entries, if they were asked for.
    changes: Changes | None = field(default=None, repr=False, compare=False)

    def to_pandas(self) -> pandas.DataFrame:
        """Returns the single entries: the GUID of the switch, the LID of the destination, the ports before and after."""
        import numpy
        import pandas

        if self.changes is None:
            raise InputError("the single entries were not asked for; use apply(..., changes=True)")
        guids = numpy.array(self.switches, dtype=object)[self.changes.switches]
        changes = self.changes
        columns = {"switch": guids, "lid": changes.lids, "before": changes.before, "after": changes.after}
        return pandas.DataFrame(columns)

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("entries that changed", self.entries),
            ("switches", len(self.switches)),
            ("milliseconds", self.milliseconds),
        ]
        return _html.table("change", rows)


@dataclass(frozen=True)
class StudyTable:
    """The rows of a study, with the columns of ``dmodc study run``."""

    columns: tuple[str, ...] = field(repr=False)
    lines: tuple[str, ...] = field(repr=False)

    def __repr__(self) -> str:
        return f"<dmodc.StudyTable: {len(self.lines):,} rows>"

    @property
    def csv(self) -> str:
        """Returns the table as CSV."""
        return "\n".join((",".join(self.columns), *self.lines)) + "\n"

    @property
    def rows(self) -> list[dict[str, str]]:
        """Returns a dictionary of texts for each row."""
        import csv
        import io

        return list(csv.DictReader(io.StringIO(self.csv)))

    def to_pandas(self) -> pandas.DataFrame:
        """Returns the table as a frame."""
        import io

        import pandas

        return pandas.read_csv(io.StringIO(self.csv))

    def __len__(self) -> int:
        return len(self.lines)

    def _repr_html_(self) -> str:
        keys = ("fabric", "engine", "cables_asked", "pattern", "max", "mean", "lost", "entries_moved")
        rows = [[row[key] for key in keys] for row in self.rows[:20]]
        return _html.grid(f"{len(self):,} rows", keys, rows)
