"""Deterministic, fault-resilient forwarding tables for fat-tree fabrics.

>>> import dmodc
>>> fabric = dmodc.pgft("3; 2,2,3; 1,2,2; 1,2,1")
>>> bool(fabric.degrade(cables="10%", seed=7).route().check())
True

Results are those of the command ``dmodc``, byte for byte. NumPy, pandas and NetworkX are needed only by functions that return
their objects.
"""

from ._engine import NO_ROUTE, Engine, SwitchTask, engine
from ._errors import (
    DmodcError,
    DmodcWarning,
    EngineError,
    FileError,
    InputError,
    ReadError,
    RouteError,
)
from ._fabric import (
    Cable,
    Fabric,
    Frames,
    Node,
    Router,
    Switch,
    directors,
    pgft,
    pods,
    preset,
    presets,
    read,
    read_tables,
    study,
)
from ._native import __version__
from ._results import Analysis, Changes, Check, Delta, Drain, Order, Pattern, Repair, StudyTable, WhatIf
from ._tables import Labels, TableArray, Tables, open_npy

__all__ = [
    "NO_ROUTE",
    "Analysis",
    "Cable",
    "Changes",
    "Check",
    "Delta",
    "DmodcError",
    "DmodcWarning",
    "Drain",
    "Engine",
    "EngineError",
    "Fabric",
    "FileError",
    "Frames",
    "InputError",
    "Labels",
    "Node",
    "Order",
    "Pattern",
    "ReadError",
    "Repair",
    "RouteError",
    "Router",
    "StudyTable",
    "Switch",
    "SwitchTask",
    "TableArray",
    "Tables",
    "WhatIf",
    "__version__",
    "directors",
    "engine",
    "open_npy",
    "pgft",
    "pods",
    "preset",
    "presets",
    "read",
    "read_tables",
    "study",
]
