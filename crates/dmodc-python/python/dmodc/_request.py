"""What is asked for, in the form that the extension module takes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from . import _native

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
    return list(given)


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
