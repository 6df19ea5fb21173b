"""Forwarding tables."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from . import _html, _native
from ._errors import FileError, InputError
from ._request import Hosts, Path, Question, flag, names, path, some_whole, whole, words
from ._results import Analysis, Check, Order

if TYPE_CHECKING:
    import numpy
    import numpy.typing
    import pandas

    from ._fabric import Fabric
    from ._results import Ports


@dataclass(frozen=True)
class Labels:
    """What the rows and columns of tables are."""

    #: The GUID of the switch of each row.
    switches: tuple[str, ...]
    #: The LID of each column.
    lids: tuple[int, ...]
    #: The GUID of each column: of a node's port, or of a switch.
    guids: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class TableArray:
    """Tables as an array: a row for each switch, a column for each LID. An entry is a port, and 255 is "no route"."""

    array: Ports = field(repr=False)
    labels: Labels = field(repr=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """Returns the numbers of switches and LIDs."""
        return self.array.shape

    def __repr__(self) -> str:
        return f"<dmodc.TableArray: {self.shape[0]:,} switches, {self.shape[1]:,} LIDs>"

    def to_pandas(self) -> pandas.DataFrame:
        """Returns the array as a frame with its labels."""
        import pandas

        return pandas.DataFrame(self.array, list(self.labels.switches), list(self.labels.lids))


class Tables:
    """The forwarding tables of a fabric. They do not change."""

    __slots__ = ("_native", "fabric")

    def __init__(self, native: _native.Tables, fabric: Fabric) -> None:
        self._native = native
        #: The fabric that they are for.
        self.fabric = fabric

    @property
    def engine(self) -> str | None:
        """Returns the name of the engine; ``None`` for tables from a file."""
        return self._native.engine

    @property
    def routed(self) -> int:
        """Returns the number of entries with a route."""
        return self._native.counts()[0]

    @property
    def digest(self) -> str:
        """Returns a short text that is the same for equal tables."""
        return self._native.digest()

    def check(self) -> Check:
        """Judges the tables as ``dmodc check`` does: delivery, loops, deadlock."""
        return Check._of(_native.check_tables(self._native))

    def analyze(
        self,
        patterns: str | Iterable[str] | None = None,
        *,
        seed: int = 1,
        rates: bool = False,
        nodes: Iterable[str] | None = None,
        jobs: Path | None = None,
    ) -> Analysis:
        """Counts flows on ports as ``dmodc analyze`` does, pattern by pattern.

        ``patterns`` are names such as ``"a2a"``, ``"rp:1000"`` and ``"sp"``, in a list or separated by commas. ``nodes``
        lets only these hosts send. ``jobs`` is a file with jobs that run at the same time.
        """
        hosts = None if nodes is None else names("nodes", nodes)
        if hosts == []:
            raise InputError("nodes is empty, so nobody sends")
        question = Question(words(patterns), path(jobs), hosts, flag("rates", rates), whole("seed", seed))
        return Analysis._of(_native.analyze(self._native, question))

    def rates(self, patterns: str | Iterable[str] = "sp", *, seed: int = 1) -> Analysis:
        """Returns an analysis with max-min fair rates of all flows that send at the same time."""
        return self.analyze(patterns, seed=seed, rates=True)

    def order(
        self,
        hosts: Path | Iterable[str] | None = None,
        *,
        choose: int | None = None,
        skip_unknown: bool = False,
    ) -> Order:
        """Puts hosts into an order in which their traffic meets least on these tables, as ``dmodc order`` does.

        ``hosts`` is a list of names, or a file with one name in each line; ``None`` stands for all hosts.
        """
        return Order._of(_native.order_by_tables(self._native, hosts_of(hosts, choose, skip_unknown)))

    def write(self, name: Path) -> None:
        """Writes the tables as ``dmodc route`` does: an array if the name ends in ``.npy``, otherwise a dump for OpenSM."""
        self._native.write(os.fspath(name))

    def tiles(self) -> list[Ports]:
        """Returns the tables as NumPy arrays without a copy: a row for each switch, and a block of columns in each array.

        The arrays can only be read. They keep the tables alive. ``tile_labels`` says what rows and columns are.
        """
        import numpy

        return [numpy.asarray(view) for view in self._native.tiles()]

    @property
    def tile_labels(self) -> Labels:
        """Returns the labels of the rows, and of the columns of all tiles, one tile after the other. With a reference, rows
        and columns of absent parts are among them, and have no routes."""
        switches, lids, guids = self._native.tile_labels()
        return Labels(tuple(switches), tuple(lids), tuple(guids))

    def array(self) -> TableArray:
        """Returns one array with all entries, in the order of a ``.npy`` file: columns by LID. This is a copy."""
        import numpy

        switches, lids, guids = self._native.array_labels()
        return TableArray(numpy.asarray(self._native.array()), Labels(tuple(switches), tuple(lids), tuple(guids)))

    def __reduce__(self) -> NoReturn:
        raise TypeError("tables cannot be pickled; write them with tables.write() and read them with dmodc.read_tables()")

    def __repr__(self) -> str:
        return f"<dmodc.Tables of {self._native.name()}: {self.routed:,} entries>"

    def _repr_html_(self) -> str:
        routed, entries = self._native.counts()
        rows: list[tuple[str, object]] = [("entries", entries), ("with a route", routed)]
        return _html.table(f"tables of {self._native.name()}", rows)


def open_npy(name: Path) -> TableArray:
    """Opens an array that ``dmodc route`` or ``tables.write`` wrote, as a memory map: nothing is read before it is used."""
    import json

    import numpy

    file = os.fspath(name)
    try:
        with open(file + ".json", encoding="utf-8") as source:
            labels = json.load(source)
        array = numpy.load(file, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        name = str(error.filename or file)
        raise FileError(error.errno or 0, f"{name}: {error.strerror or error}", name) from error
    except ValueError as error:
        raise InputError(f"{file}: {error}") from error
    try:
        found = Labels(tuple(labels["switches"]), tuple(labels["lids"]), tuple(labels["guids"]))
    except (KeyError, TypeError) as error:
        raise InputError(f"{file}.json: these are no labels of an array") from error
    if array.shape != (len(found.switches), len(found.lids)):
        raise InputError(f"{file}: the array and its labels are not of one run")
    return TableArray(array, found)


def hosts_of(hosts: Path | Iterable[str] | None, choose: int | None, skip_unknown: bool) -> Hosts:
    """Returns the request for a list of hosts, a file of them, or all."""
    choose, skip_unknown = some_whole("choose", choose, 1), flag("skip_unknown", skip_unknown)
    if hosts is None:
        return Hosts(None, None, choose, skip_unknown)
    if isinstance(hosts, (str, os.PathLike)):
        return Hosts(None, os.fspath(hosts), choose, skip_unknown)
    return Hosts(names("hosts", hosts), None, choose, skip_unknown)
