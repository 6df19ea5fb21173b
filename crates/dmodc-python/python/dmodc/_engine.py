"""Engines that are Python functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import _native
from ._errors import EngineError, InputError

if TYPE_CHECKING:
    import numpy
    import numpy.typing

    #: Numbers of destinations, targets or LIDs.
    Integers = numpy.typing.NDArray[numpy.int64]
    #: Ports.
    Ports = numpy.typing.NDArray[numpy.uint8]

#: The entry of a destination without a route.
NO_ROUTE = 255


@dataclass(frozen=True)
class SwitchTask:
    """What an engine gets for one switch.

    A *target* is a switch that destinations are on. All destinations of a target share its closer set: the ports that lead
    nearer to it and keep routes free of deadlock.
    """

    #: The place of the switch in ``fabric.switches``.
    index: int
    #: Its GUID.
    guid: str
    #: Its name.
    name: str
    #: The closer sets: for each target a row of ports, in switch order, with 255 after the last one.
    ports: Ports = field(repr=False)
    #: The number of ports in each row; 0 for a target without a route.
    counts: Integers = field(repr=False)
    #: For each destination, the row of its target.
    targets: Integers = field(repr=False)
    #: For each destination, its number in destination order.
    numbers: Integers = field(repr=False)
    #: For each destination, its LID.
    lids: Integers = field(repr=False)


#: A function that chooses a port for each destination of a task.
Chooser = Callable[[SwitchTask], "numpy.typing.ArrayLike"]


class Engine:
    """An engine that is a Python function. ``dmodc.engine`` makes one."""

    __slots__ = ("_failure", "_native", "function")

    def __init__(self, function: Chooser, name: str, strict: bool) -> None:
        if not callable(function):
            raise InputError("an engine is a function that gets a SwitchTask")
        if not isinstance(name, str):
            raise TypeError(f"name must be a text, not {name!r}")
        if not name or name != name.strip():
            raise InputError(f"'{name}' is not a name for an engine")
        if name.partition("+")[0] in ("dmodc", "paper", "stable", "dmodk", "random") or name.startswith("opensm:"):
            raise InputError(f"'{name}' is another engine; choose a name of your own")
        self.function = function
        self._failure: BaseException | None = None
        self._native = _native.Engine(self._chosen, name, strict)

    def _chosen(self, task: _native.Task) -> bytes:
        """Lets the function choose. The extension module knows only the words of an exception, so it is kept here."""
        try:
            return _bytes(self.function, task)
        except BaseException as error:
            self._failure = error
            raise

    @property
    def name(self) -> str:
        """Returns the name in results."""
        return self._native.name

    @property
    def strict(self) -> bool:
        """Returns whether ports outside closer sets are refused."""
        return self._native.strict

    def __repr__(self) -> str:
        return f"dmodc.engine({self.function!r}, name={self.name!r}, strict={self.strict})"


def engine(function: Chooser, name: str = "mine", strict: bool = True) -> Engine:
    """Returns an engine that routes by a function.

    The function is called once for each switch, in the order of switches. It gets a :class:`SwitchTask` and returns a port
    for each destination, or 255 for no route. Ports outside the closer set of a destination are refused, unless ``strict`` is
    false: then ``check`` says whether packets loop.
    """
    return Engine(function, name, strict)


class Causes:
    """Gives an error of an engine the exception of its function as its cause, so that the traceback shows both."""

    __slots__ = ("_engine",)

    def __init__(self, engine: object) -> None:
        self._engine = engine

    def __enter__(self) -> None:
        if isinstance(self._engine, Engine):
            self._engine._failure = None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, EngineError) and isinstance(self._engine, Engine):
            error.__cause__ = self._engine._failure


def _bytes(function: Chooser, task: _native.Task) -> bytes:
    """Calls the function of an engine. Returns the ports that it chose."""
    import numpy

    index, guid, name = task.switch
    views = (task.ports, task.counts, task.targets, task.numbers, task.lids)
    chosen = numpy.asarray(function(SwitchTask(index, guid, name, *map(numpy.asarray, views))))
    if chosen.ndim != 1:
        raise EngineError(f"the function returned an array with {chosen.ndim} dimensions instead of 1")
    if chosen.size and not numpy.issubdtype(chosen.dtype, numpy.integer):
        raise EngineError(f"the function returned {chosen.dtype} instead of whole numbers")
    if chosen.size and (chosen.min() < 0 or chosen.max() > NO_ROUTE):
        raise EngineError("the function returned a number that is no port (0 to 254) and not 255")
    return chosen.astype(numpy.uint8).tobytes()
