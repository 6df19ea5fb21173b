"""Fabrics."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, TypedDict

from . import _html, _native
from ._engine import Causes, Engine
from ._errors import DmodcWarning, InputError
from ._request import (
    Maintenance,
    Path,
    Removal,
    Routing,
    Survey,
    flag,
    names,
    path,
    some_text,
    some_whole,
    whole,
    words,
)
from ._results import Changes, Delta, Drain, Order, Repair, StudyTable, WhatIf
from ._tables import Tables, hosts_of

if TYPE_CHECKING:
    import networkx
    import pandas
    from typing_extensions import Unpack


@dataclass(frozen=True)
class Switch:
    """A switch."""

    guid: str
    name: str
    lid: int
    ports: int
    #: Its level: leaves have level 1. ``None`` if no leaf can be reached.
    level: int | None
    leaf: bool


@dataclass(frozen=True)
class Cable:
    """A cable between two switches."""

    guid: str
    port: int
    peer_guid: str
    peer_port: int
    rate: str


@dataclass(frozen=True)
class Node:
    """A cabled port of an adapter."""

    guid: str
    name: str
    adapter_guid: str
    adapter_port: int
    lid: int
    lmc: int
    switch_guid: str
    switch_port: int
    #: ``host``, ``aggregation``, ``router`` or ``aside``.
    kind: str


@dataclass(frozen=True)
class Frames:
    """A fabric as three frames of pandas."""

    switches: pandas.DataFrame = field(repr=False)
    cables: pandas.DataFrame = field(repr=False)
    nodes: pandas.DataFrame = field(repr=False)


def _native_of(fabric: Fabric) -> _native.Fabric:
    """Returns the fabric as the extension module has it."""
    if not isinstance(fabric, Fabric):
        raise TypeError(f"fabric must be a fabric, not {fabric!r}")
    return fabric._native


class RoutingOptions(TypedDict, total=False):
    """Options that every command has which routes."""

    roots: Path
    leaf_min_nodes: int
    leaf_name: str
    exclude: str
    destination_order: str
    switch_order: str
    orders: Path


def _routing(
    engine: str | Engine,
    seed: int,
    reference: Fabric | None,
    options: RoutingOptions,
) -> Routing:
    known = sorted(RoutingOptions.__annotations__)
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise TypeError(f"there is no argument '{unknown[0]}'; expected {', '.join(known)}")
    if not isinstance(engine, (str, Engine)):
        raise TypeError(f"engine must be a name or an engine, not {engine!r}")
    if reference is not None and not isinstance(reference, Fabric):
        raise TypeError(f"reference must be a fabric, not {reference!r}")
    return Routing(
        engine._native if isinstance(engine, Engine) else engine,
        whole("seed", seed),
        None if reference is None else reference._native,
        path(options.get("roots")),
        some_whole("leaf_min_nodes", options.get("leaf_min_nodes")),
        some_text("leaf_name", options.get("leaf_name")),
        some_text("exclude", options.get("exclude")),
        some_text("destination_order", options.get("destination_order", "topological")) or "",
        some_text("switch_order", options.get("switch_order", "plane")) or "",
        path(options.get("orders")),
    )


class Fabric:
    """A network of switches, cables and nodes. It does not change: ``degrade`` returns another one."""

    __slots__ = ("_native", "removed")

    def __init__(self, native: _native.Fabric, removed: Iterable[str] = ()) -> None:
        self._native = native
        #: What ``degrade`` removed, in words.
        self.removed = tuple(removed)

    @property
    def name(self) -> str:
        """Returns where the fabric comes from."""
        return self._native.name

    @property
    def node_count(self) -> int:
        """Returns the number of nodes."""
        return self._native.counts()[0]

    @property
    def switch_count(self) -> int:
        """Returns the number of switches."""
        return self._native.counts()[1]

    @property
    def cable_count(self) -> int:
        """Returns the number of cables between switches."""
        return self._native.counts()[2]

    @property
    def switches(self) -> list[Switch]:
        """Returns the switches."""
        return [Switch(*row) for row in self._native.switches()]

    @property
    def cables(self) -> list[Cable]:
        """Returns the cables between switches."""
        return [Cable(*row) for row in self._native.cables()]

    @property
    def nodes(self) -> list[Node]:
        """Returns the nodes."""
        return [Node(*row) for row in self._native.nodes()]

    def degrade(
        self,
        cables: int | str = 0,
        switches: int | str = 0,
        *,
        remove: Iterable[str] = (),
        seed: int = 1,
        any_cable: bool = False,
        any_switch: bool = False,
    ) -> Fabric:
        """Returns the fabric without some parts, as ``dmodc degrade`` does.

        ``cables`` and ``switches`` are numbers such as ``5`` or percentages such as ``"1%"``, drawn at random by ``seed``.
        ``remove`` names parts: a switch by name or GUID, a cable by one of its ports, such as ``"L1-0/7"``.
        """
        flags = flag("any_cable", any_cable), flag("any_switch", any_switch)
        removal = Removal(str(cables), str(switches), *flags, names("remove", remove), whole("seed", seed))
        native, removed = self._native.degrade(removal)
        return Fabric(native, removed)

    def route(
        self,
        engine: str | Engine = "dmodc",
        *,
        reference: Fabric | None = None,
        seed: int = 1,
        **options: Unpack[RoutingOptions],
    ) -> Tables:
        """Computes forwarding tables as ``dmodc route`` does.

        ``engine`` is ``"dmodc"``, ``"paper"``, ``"stable"``, ``"dmodk"``, ``"random"``, one of these with ``"+relief"``, or an
        engine of your own. ``reference`` is the whole fabric before any fault, for the engine stable. Options are those of the
        command: ``destination_order``, ``switch_order``, ``orders``, ``roots``, ``leaf_min_nodes``, ``leaf_name``, ``exclude``.
        """
        with Causes(engine):
            return Tables(_native.route(self._native, _routing(engine, seed, reference, options)), self)

    def whatif(
        self,
        engine: str | Engine = "dmodc",
        *,
        parts: str = "both",
        any_switch: bool = False,
        double: int | str | None = None,
        patterns: str | Iterable[str] | None = None,
        reference: Fabric | None = None,
        seed: int = 1,
        **options: Unpack[RoutingOptions],
    ) -> WhatIf:
        """Returns what every single fault would do, as ``dmodc whatif`` does.

        ``parts`` is ``"cables"``, ``"switches"`` or ``"both"``. ``double`` is a number of random pairs of faults, or ``"all"``.
        """
        if parts not in ("cables", "switches", "both"):
            raise InputError(f"parts must be 'cables', 'switches' or 'both', not '{parts}'")
        if isinstance(double, str) and double != "all":
            raise InputError(f"double must be 'all' or a number from 1 on, not '{double}'")
        pairs = -1 if double == "all" else some_whole("double", double, 1)  # type: ignore[arg-type]
        survey = Survey(parts, flag("any_switch", any_switch), pairs, words(patterns), whole("seed", seed))
        with Causes(engine):
            return WhatIf._of(_native.whatif(self._native, _routing(engine, seed, reference, options), survey))

    def order(
        self,
        hosts: Path | Iterable[str] | None = None,
        *,
        choose: int | None = None,
        skip_unknown: bool = False,
        engine: str | Engine = "dmodc",
        reference: Fabric | None = None,
        seed: int = 1,
        **options: Unpack[RoutingOptions],
    ) -> Order:
        """Puts hosts into an order in which their traffic meets least, as ``dmodc order`` does without a file of tables."""
        routing = _routing(engine, seed, reference, options)
        with Causes(engine):
            return Order._of(_native.order_hosts(self._native, routing, hosts_of(hosts, choose, skip_unknown)))

    def drain(
        self,
        parts: Iterable[str],
        *,
        keep: str = "lost=0",
        shifts: int = 200,
        states: int = 4096,
        engine: str | Engine = "dmodc",
        reference: Fabric | None = None,
        seed: int = 1,
        **options: Unpack[RoutingOptions],
    ) -> Drain:
        """Returns which of these parts can be taken out of service together, as ``dmodc drain`` does. ``keep`` has the limits
        that every state must keep to."""
        numbers = whole("shifts", shifts, 1), whole("states", states)
        what = Maintenance(names("parts", parts), keep, *numbers, None)
        with Causes(engine):
            return Drain._of(_native.drain_parts(self._native, _routing(engine, seed, reference, options), what))

    def repair(
        self,
        reference: Fabric,
        *,
        steps: int | None = None,
        shifts: int = 200,
        engine: str | Engine = "stable",
        seed: int = 1,
        **options: Unpack[RoutingOptions],
    ) -> Repair:
        """Returns in which order the parts that this fabric lacks are best repaired, as ``dmodc repair`` does. ``reference`` is
        the whole fabric."""
        what = Maintenance([], "lost=0", whole("shifts", shifts, 1), 0, some_whole("steps", steps))
        with Causes(engine):
            return Repair._of(_native.repair_parts(self._native, _routing(engine, seed, reference, options), what))

    def write(self, name: Path, format: str = "ibnetdiscover") -> None:
        """Writes the fabric. Formats are ``ibnetdiscover``, ``ibsim``, ``json``, ``dot`` and ``graphml``."""
        self._native.write(os.fspath(name), format)

    def to_pandas(self) -> Frames:
        """Returns the switches, cables and nodes as frames of pandas."""
        import pandas

        def frame(rows: list[Any], kind: type) -> pandas.DataFrame:
            return pandas.DataFrame(rows, columns=list(kind.__dataclass_fields__))  # type: ignore[attr-defined]

        native = self._native
        return Frames(frame(native.switches(), Switch), frame(native.cables(), Cable), frame(native.nodes(), Node))

    def to_networkx(self) -> networkx.MultiGraph[str]:
        """Returns a graph of NetworkX. Its nodes are GUIDs of switches and adapters, its edges are cables. Their attributes are
        those of the format GraphML."""
        import networkx

        graph: networkx.MultiGraph[str] = networkx.MultiGraph()
        for of in self.switches:
            rank = {} if of.level is None else {"rank": of.level - 1}
            graph.add_node(of.guid, kind="switch", name=of.name, guid=of.guid, lid=of.lid, **rank)
        nodes = self.nodes
        for node in sorted(nodes, key=lambda node: node.adapter_port, reverse=True):
            graph.add_node(node.adapter_guid, kind=node.kind, name=node.name, guid=node.adapter_guid, lid=node.lid)
        for cable in self.cables:
            graph.add_edge(
                cable.guid, cable.peer_guid, source_port=cable.port, target_port=cable.peer_port, rate=cable.rate
            )
        for node in nodes:
            graph.add_edge(
                node.switch_guid, node.adapter_guid, source_port=node.switch_port, target_port=node.adapter_port
            )
        return graph

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fabric) and self._native.equals(other._native)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> NoReturn:
        raise TypeError("a fabric cannot be pickled; write it with fabric.write() and read it with dmodc.read()")

    def __repr__(self) -> str:
        nodes, switches, cables = self._native.counts()
        return f"<dmodc.Fabric {self.name}: {nodes:,} nodes, {switches:,} switches, {cables:,} inter-switch cables>"

    def drawing(self) -> str:
        """Returns a drawing of the switches as SVG."""
        from . import _drawing

        hosts = Counter(row[6] for row in self._native.nodes())
        return _drawing.svg(self._native.switches(), self._native.cables(), hosts)

    def _repr_html_(self) -> str:
        nodes, switches, cables = self._native.counts()
        rows: list[tuple[str, object]] = [("nodes", nodes), ("switches", switches), ("inter-switch cables", cables)]
        return _html.table(self.name, rows) + self.drawing()


class Router:
    """A fabric that is routed again after each change, as fast as possible."""

    __slots__ = ("_engine", "_native")

    def __init__(
        self,
        fabric: Fabric,
        engine: str | Engine = "dmodc",
        *,
        reference: Fabric | None = None,
        seed: int = 1,
        **options: Unpack[RoutingOptions],
    ) -> None:
        self._engine = engine
        with Causes(engine):
            self._native = _native.Router(_native_of(fabric), _routing(engine, seed, reference, options))

    def apply(self, fail: Iterable[str] = (), repair: Iterable[str] = (), *, changes: bool = False) -> Delta:
        """Lets parts fail and others work again, and routes what that affects. Parts are named as in ``degrade``.

        With ``changes``, the result has the single entries, too. That takes NumPy, and a copy of the tables while the call lasts.

        If the engine cannot route the change, nothing changes. If Ctrl-C ends the call, the change takes place all the same.
        """
        if flag("changes", changes):
            import numpy
        with Causes(self._engine):
            entries, switches, milliseconds, views = self._native.apply(
                names("fail", fail), names("repair", repair), changes
            )
        if views is None:
            return Delta(entries, tuple(switches), milliseconds)
        return Delta(entries, tuple(switches), milliseconds, Changes(*map(numpy.asarray, views)))

    @property
    def dead(self) -> list[str]:
        """Returns the parts that do not work, in words."""
        return self._native.dead()

    def tables(self) -> Tables:
        """Returns a copy of the present tables. Later changes do not change it."""
        native, fabric = self._native.tables()
        return Tables(native, Fabric(fabric))

    def __repr__(self) -> str:
        return f"<dmodc.Router, {len(self.dead):,} parts do not work>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a router cannot be pickled; write its tables instead")


def _warned(native: _native.Fabric | _native.Tables, name: str) -> None:
    for problem in native.problems:
        warnings.warn(f"{name}: {problem}", DmodcWarning, stacklevel=3)


def read(source: Path | bytes, *, strict: bool = False) -> Fabric:
    """Reads a fabric from a file, or from the bytes of one. The format is recognised from the content.

    Damaged lines are left out with a warning; with ``strict`` they are an error.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        native = _native.read("<bytes>", bytes(source), strict)
    else:
        native = _native.read(os.fspath(source), None, strict)
    _warned(native, native.name)
    return Fabric(native)


def pgft(tuple: str, *, guids: str = "topological", departures: str | None = None, seed: int = 1) -> Fabric:
    """Returns a parallel generalised fat tree, such as ``"3; 2,2,3; 1,2,2; 1,2,1"``: levels; children; parents; parallel
    cables."""
    return _generate("pgft", tuple, guids, departures, seed)


def preset(name: str, *, guids: str = "topological", departures: str | None = None, seed: int = 1) -> Fabric:
    """Returns a fabric by its name, such as ``"director-648"``. ``presets`` has all names."""
    return _generate("preset", name, guids, departures, seed)


def directors(
    leaves: int = 16,
    nodes: int = 8,
    directors: int = 2,
    lines: int = 8,
    spines: int = 8,
    cables: int = 8,
    parallel: int = 1,
    spread: str = "consecutive",
    *,
    guids: str = "topological",
    departures: str | None = None,
    seed: int = 1,
) -> Fabric:
    """Returns leaves that are cabled to director switches. The arguments are those of ``dmodc generate directors``."""
    numbers = {
        "leaves": leaves,
        "nodes": nodes,
        "directors": directors,
        "lines": lines,
        "spines": spines,
        "cables": cables,
        "parallel": parallel,
    }
    return _generate("directors", _notation(numbers) + f",spread={spread}", guids, departures, seed)


def pods(
    pods: int = 4,
    leaves: int = 8,
    nodes: int = 8,
    lower: int = 8,
    upper: int = 8,
    cores: int = 16,
    reach: int = 4,
    *,
    guids: str = "topological",
    departures: str | None = None,
    seed: int = 1,
) -> Fabric:
    """Returns pods with two levels of switches above their leaves, below cores. The arguments are those of
    ``dmodc generate pods``."""
    numbers = {
        "pods": pods,
        "leaves": leaves,
        "nodes": nodes,
        "lower": lower,
        "upper": upper,
        "cores": cores,
        "reach": reach,
    }
    return _generate("pods", _notation(numbers), guids, departures, seed)


def _notation(numbers: dict[str, int]) -> str:
    return ",".join(f"{name}={number}" for name, number in numbers.items())


def _generate(kind: str, notation: str, guids: str, departures: str | None, seed: int) -> Fabric:
    if guids not in ("topological", "shuffled"):
        raise InputError(f"guids must be 'topological' or 'shuffled', not '{guids}'")
    return Fabric(_native.generate(kind, notation, guids == "shuffled", departures, whole("seed", seed)))


def presets() -> dict[str, str]:
    """Returns the names of presets, and what each is."""
    return {
        name: f"{nodes:,} nodes, {switches:,} switches: {about}"
        for name, _, nodes, switches, about in _native.presets()
    }


def read_tables(name: Path, fabric: Fabric, *, strict: bool = False, **options: Unpack[RoutingOptions]) -> Tables:
    """Reads forwarding tables of a fabric: a dump of OpenSM or ``dmodc route``, or an array with its labels.

    Options say how the tables are judged, as in ``route``.
    """
    file = os.fspath(name)
    native = _native.read_tables(file, _native_of(fabric), _routing("dmodc", 1, None, options), flag("strict", strict))
    _warned(native, file)
    return Tables(native, fabric)


def study(plan: Path, *, engines: Iterable[Engine] = ()) -> StudyTable:
    """Measures a study as ``dmodc study run`` does, and returns its table. ``plan`` is a file, or the text of a plan in TOML.

    ``engines`` take part after those of the plan.
    """
    engines = list(engines)
    for engine in engines:
        if not isinstance(engine, Engine):
            raise TypeError(f"engines must be a list of engines, and {engine!r} is none")
    native = [engine._native for engine in engines]
    is_text = isinstance(plan, str) and "\n" in plan
    text = plan if isinstance(plan, str) and is_text else None
    columns, lines = _native.study("the plan" if is_text else os.fspath(plan), text, native)
    return StudyTable(tuple(columns), tuple(lines))
