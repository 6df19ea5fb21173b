"""What is asked for, in the form that the extension module takes."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from dataclasses import dataclass

from . import _native
from ._errors import InputError

#: A name of a file.
Path = str | os.PathLike[str]


def path(name: Path | None) -> str | None:
    """Returns the name of a file as a text."""
    return None if name is None else os.fspath(name)


def words(given: str | Iterable[str] | None) -> list[str] | None:
    """Returns a list of words: a text is divided at commas."""
    if given is None:
        return None
    if isinstance(given, str):
        return [word.strip() for word in given.split(",")]
    return names("patterns", given)


def whole(name: str, given: int, least: int = 0) -> int:
    """Returns a whole number that Rust can take. Numbers of NumPy are whole numbers, too."""
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        raise TypeError(f"{name} must be a whole number, not {given!r}")
    number = operator.index(given)
    if number < least:
        raise InputError(f"{name} must be at least {least}, not {number}")
    most = 2**64 if name == "seed" else 2**63
    if number >= most:
        raise InputError(f"{name} must be less than {most}, not {number}")
    return number


def some_whole(name: str, given: int | None, least: int = 0) -> int | None:
    """Returns the same, if there is one."""
    return None if given is None else whole(name, given, least)


def flag(name: str, given: bool) -> bool:
    """Returns a value that is true or false."""
    if not isinstance(given, bool) and type(given).__name__ not in ("bool_", "bool"):
        raise TypeError(f"{name} must be True or False, not {given!r}")
    return bool(given)


def names(what: str, given: Iterable[str]) -> list[str]:
    """Returns a list of names."""
    if isinstance(given, (str, bytes)):
        raise InputError(f"{what} is a list of names, not one name")
    found = list(given)
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f"{what} must be a list of names, and {name!r} is none")
    return found


def some_text(name: str, given: str | None) -> str | None:
    """Returns a text, if there is one."""
    if given is not None and not isinstance(given, str):
        raise TypeError(f"{name} must be a text, not {given!r}")
    return given


@dataclass(frozen=True)
class Routing:
    """How a fabric is routed."""

    engine: str | _native.Engine
    seed: int
    reference: _native.Fabric | None
    roots: str | None
    leaf_min_nodes: int | None
    leaf_name: str | None
    exclude: str | None
    destination_order: str
    switch_order: str
    orders: str | None


@dataclass(frozen=True)
class Removal:
    """What is removed from a fabric."""

    cables: str
    switches: str
    any_cable: bool
    any_switch: bool
    remove: list[str]
    seed: int


@dataclass(frozen=True)
class Question:
    """What is asked of an analysis."""

    patterns: list[str] | None
    jobs: str | None
    nodes: list[str] | None
    rates: bool
    seed: int


@dataclass(frozen=True)
class Survey:
    """Which faults are tried."""

    parts: str
    any_switch: bool
    double: int | None
    patterns: list[str] | None
    seed: int


@dataclass(frozen=True)
class Hosts:
    """Which hosts are put into order."""

    hosts: list[str] | None
    file: str | None
    choose: int | None
    skip_unknown: bool


@dataclass(frozen=True)
class Maintenance:
    """What is asked about parts that are taken out or repaired."""

    parts: list[str]
    keep: str
    shifts: int
    states: int
    steps: int | None
