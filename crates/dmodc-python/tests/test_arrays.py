"""Arrays without copies."""

from __future__ import annotations

import gc
import pathlib
import resource

import numpy
import pytest

import dmodc


def test_tiles_are_no_copies_and_outlive_their_tables() -> None:
    tables = dmodc.preset("director-648").route()
    first, second = tables.tiles(), tables.tiles()
    addresses = [array.__array_interface__["data"][0] for array in first]
    assert addresses == [array.__array_interface__["data"][0] for array in second], "the same memory"
    assert all(not array.flags.writeable and not array.flags.owndata for array in first)
    with pytest.raises(ValueError):
        first[0][0, 0] = 1
    expected = numpy.concatenate(first, axis=1).copy()
    del tables, second
    gc.collect()
    # Memory that was given back would be overwritten here.
    others = [dmodc.preset("director-648").route(engine="random", seed=seed) for seed in range(3)]
    assert (numpy.concatenate(first, axis=1) == expected).all()
    assert others


def memory() -> int:
    """Returns the memory of this process in use, in bytes."""
    with open("/proc/self/statm") as source:
        return int(source.read().split()[1]) * resource.getpagesize()


def test_large_tables_are_not_copied(tmp_path: pathlib.Path) -> None:
    tables = dmodc.pgft("3; 16,12,18; 1,12,12; 1,1,1").route()
    entries = tables._native.counts()[1]
    assert entries > 2_000_000
    before = memory()
    views = [tables.tiles() for _ in range(10)]
    assert sum(array.size for tiles in views for array in tiles) == 10 * entries
    assert memory() - before < entries // 2, "ten views take less than half of one copy"
    tables.write(tmp_path / "t.npy")
    before = memory()
    mapped = dmodc.open_npy(tmp_path / "t.npy")
    assert isinstance(mapped.array, numpy.memmap)
    assert memory() - before < entries // 2
    copy = tables.array()
    assert (copy.array == mapped.array).all() and copy.labels == mapped.labels


def test_labels_say_what_entries_are() -> None:
    fabric = dmodc.pgft("3; 2,2,3; 1,2,2; 1,2,1").degrade(cables=3, seed=5)
    for engine in ("dmodc", "stable"):
        tables = fabric.route(engine)
        whole, labels = tables.array(), tables.tile_labels
        tiles = numpy.concatenate(tables.tiles(), axis=1)
        assert tiles.shape == (len(labels.switches), len(labels.lids))
        frame = whole.to_pandas()
        for row, guid in enumerate(labels.switches):
            for column, lid in enumerate(labels.lids):
                assert frame.loc[guid, lid] == tiles[row, column]
        node = fabric.nodes[0]
        assert frame.loc[node.switch_guid, node.lid] == node.switch_port


def test_loads_are_arrays() -> None:
    analysis = dmodc.pgft("2; 4,4; 1,4; 1,1").route().analyze("a2a,sp")
    loads = analysis.loads("a2a")
    assert loads.dtype == numpy.uint64 and not loads.flags.writeable
    assert loads.max() == analysis["a2a"].max and len(loads) == len(analysis.ports)
    address = loads.__array_interface__["data"][0]
    assert analysis.loads("a2a").__array_interface__["data"][0] == address
    del analysis
    gc.collect()
    assert loads.sum() > 0


def test_arrays_that_do_not_fit_are_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(dmodc.FileError) as missing:
        dmodc.open_npy(tmp_path / "absent.npy")
    assert isinstance(missing.value, OSError) and missing.value.errno == 2
    tables = dmodc.preset("paper-figure-1").route()
    tables.write(tmp_path / "a.npy")
    tables.fabric.degrade(remove=["L1-0"]).route().write(tmp_path / "b.npy")
    (tmp_path / "b.npy.json").replace(tmp_path / "a.npy.json")
    with pytest.raises(dmodc.InputError, match="not of one run"):
        dmodc.open_npy(tmp_path / "a.npy")
