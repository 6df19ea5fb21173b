"""Fabrics, routers, results and errors."""

from __future__ import annotations

import pathlib
import pickle

import networkx
import numpy
import pytest

import dmodc

TUPLE = "3; 2,2,3; 1,2,2; 1,2,1"


def test_read_takes_files_and_bytes(tmp_path: pathlib.Path) -> None:
    fabric = dmodc.pgft(TUPLE)
    fabric.write(tmp_path / "f.topo")
    assert dmodc.read(str(tmp_path / "f.topo")) == dmodc.read((tmp_path / "f.topo").read_bytes()) == fabric
    assert fabric != fabric.degrade(cables=1)
    assert (fabric.node_count, fabric.switch_count, fabric.cable_count) == (12, 16, 36)


def test_errors_say_where(tmp_path: pathlib.Path) -> None:
    bad = tmp_path / "bad.topo"
    fabric = dmodc.pgft(TUPLE)
    fabric.write(bad)
    text = bad.read_text().replace('[3]\t"S-', '[x]\t"S-', 1)
    bad.write_text(text)
    with pytest.warns(dmodc.DmodcWarning, match="bad.topo"):
        dmodc.read(bad)
    with pytest.raises(dmodc.ReadError) as error:
        dmodc.read(bad, strict=True)
    found = error.value
    line = 1 + text[: text.index("[x]")].count("\n")
    assert (found.file, found.line) == (str(bad), line) and found.column >= 1
    assert found.text is not None and "[x]" in found.text and "^" in found.text
    assert isinstance(found, (dmodc.DmodcError, ValueError))
    with pytest.raises(dmodc.ReadError):
        dmodc.read(b"nonsense")
    with pytest.raises(dmodc.FileError) as missing:
        dmodc.read(tmp_path / "absent")
    assert missing.value.errno == 2 and "absent" in str(missing.value)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda fabric: dmodc.pgft("3; 2"), "3; 2|tuple|list|four"),
        (lambda fabric: dmodc.pgft(TUPLE, guids="odd"), "guids must be"),
        (lambda fabric: dmodc.preset("nothing"), "no preset 'nothing'"),
        (lambda fabric: dmodc.directors(cables=3), "director"),
        (lambda fabric: fabric.degrade(cables="many"), "many"),
        (lambda fabric: fabric.degrade(cables=1000), "1000|36"),
        (lambda fabric: fabric.degrade(remove=["nobody"]), "nobody"),
        (lambda fabric: fabric.route("fastest"), "no engine 'fastest'"),
        (lambda fabric: fabric.route("opensm:updn"), "inside OpenSM"),
        (lambda fabric: fabric.route("dmodc", reference=fabric), "reference works only with engine stable"),
        (lambda fabric: fabric.route(leaf_name="nobody"), "leaf_name does not match"),
        (lambda fabric: fabric.route(leaf_name="("), "regular expression"),
        (lambda fabric: fabric.route(destination_order="odd"), "destination_order must be"),
        (lambda fabric: fabric.route().analyze("odd"), "'odd' is not a pattern"),
        (lambda fabric: fabric.route().analyze(nodes=["nobody"]), "nobody"),
        (lambda fabric: fabric.whatif(parts="nodes"), "parts must be"),
        (lambda fabric: fabric.whatif(double=0), "double must be"),
        (lambda fabric: fabric.whatif(engine="dmodk"), "cannot try any fault"),
        (lambda fabric: fabric.drain([]), "names no part"),
        (lambda fabric: fabric.drain(["nobody"]), "nobody"),
        (lambda fabric: fabric.drain(["L2-0"], keep="odd"), "keep"),
        (lambda fabric: fabric.order(["nobody"]), "nobody"),
        (lambda fabric: fabric.order(choose=99), "choose asks for 99"),
        (lambda fabric: fabric.order(choose=0), "choose must be at least 1"),
        (lambda fabric: fabric.route(seed=-1), "seed must be at least 0"),
        (lambda fabric: fabric.route(seed=2**64), "seed must be"),
        (lambda fabric: fabric.degrade(remove="L1-0"), "list of names"),
        (lambda fabric: fabric.write("x", "odd"), "no format 'odd'"),
        (lambda fabric: dmodc.Router(fabric).apply(fail="L1-0"), "list of names"),
        (lambda fabric: dmodc.Router(fabric).apply(fail=["nobody"]), "nobody"),
        (lambda fabric: fabric.route().analyze(nodes="node-0"), "list of names"),
        (lambda fabric: fabric.route().analyze(nodes=[]), "empty"),
        (lambda fabric: fabric.degrade(1, seed=2**64), "less than"),
        (lambda fabric: fabric.order(choose=2**63), "less than"),
        (lambda fabric: fabric.whatif(double=2**63), "less than"),
        (lambda fabric: fabric.whatif(double="some"), "double must be"),
        (lambda fabric: dmodc.engine(len, name="stable"), "another engine"),
        (lambda fabric: dmodc.study("name = 1\n"), "the plan:1"),
    ],
)
def test_bad_input_is_an_input_error(call: object, why: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(dmodc.InputError, match=why):
        call(dmodc.pgft(TUPLE))


def test_other_errors() -> None:
    fabric = dmodc.pgft(TUPLE)
    with pytest.raises(dmodc.RouteError, match="regular fat trees"):
        fabric.degrade(cables=1).route("dmodk")
    with pytest.raises(TypeError, match="there is no argument 'leaves'"):
        fabric.route(leaves=3)
    with pytest.raises(TypeError, match="seed must be a whole number"):
        fabric.route(seed="one")
    with pytest.raises(TypeError, match="engine must be a name or an engine"):
        fabric.route(3)
    with pytest.raises(TypeError, match="leaf_name must be a text"):
        fabric.route(leaf_name=3)
    with pytest.raises(TypeError):
        dmodc.read(3)
    with pytest.raises(dmodc.FileError):
        fabric.write("/nowhere/f.topo")


@pytest.mark.parametrize("thing", [lambda f: f, lambda f: f.route(), lambda f: dmodc.Router(f)])
def test_nothing_is_pickled(thing: object) -> None:
    with pytest.raises(TypeError, match="cannot be pickled; write"):
        pickle.dumps(thing(dmodc.pgft(TUPLE)))


def test_results_can_be_pickled() -> None:
    check = dmodc.pgft(TUPLE).route().check()
    assert pickle.loads(pickle.dumps(check)) == check
    with pytest.raises(AttributeError):
        check.lost = 3


def test_routers_follow_changes() -> None:
    fabric = dmodc.pgft(TUPLE)
    router = dmodc.Router(fabric, engine="stable")
    healthy = router.tables()
    delta = router.apply(fail=["L2-0", "L1-1/3"])
    assert delta.entries > 0 and delta.switches and len(router.dead) == 2
    present = router.tables()
    assert present.fabric.switch_count == 15 and present.check()
    rest = fabric.degrade(remove=["L2-0", "L1-1/3"])
    assert present.fabric == rest
    theirs = rest.route("stable", reference=fabric)
    assert (present.array().array == theirs.array().array).all()
    router.apply(repair=["L2-0", "L1-1/3"])
    assert not router.dead and router.tables().digest == healthy.digest
    assert router.apply().entries == 0


def test_single_changes_are_those_between_two_tables() -> None:
    fabric = dmodc.pgft("3; 4,4,4; 1,4,2; 1,1,2").degrade(cables=4, seed=3)
    for engine in ("dmodc", "stable", "random"):
        router = dmodc.Router(fabric, engine)
        for change in ({"fail": ["L2-0", "L1-1/6"]}, {"repair": ["L2-0"], "fail": ["L3-1"]}, {"repair": ["L3-1"]}):
            before = router.tables()
            delta = router.apply(**change, changes=True)
            after, labels = router.tables(), before.tile_labels
            old, new = (numpy.concatenate(tables.tiles(), axis=1) for tables in (before, after))
            rows, columns = numpy.nonzero(old != new)
            expected = {
                (labels.switches[row], labels.lids[column], old[row, column], new[row, column])
                for row, column in zip(rows, columns)
            }
            frame = delta.to_pandas()
            assert list(frame.columns) == ["switch", "lid", "before", "after"]
            assert set(frame.itertuples(index=False, name=None)) == expected
            assert delta.changes is not None
            assert len(frame) == len(expected) == len(delta.changes) == delta.entries > 0
            assert set(frame["switch"]) == set(delta.switches)
            assert len(pickle.loads(pickle.dumps(delta)).changes) == delta.entries
    with pytest.raises(dmodc.InputError, match="changes=True"):
        router.apply().to_pandas()


def test_a_change_that_cannot_be_routed_changes_nothing() -> None:
    fabric = dmodc.pgft(TUPLE)
    router = dmodc.Router(fabric, "dmodk")
    before = router.tables().digest
    with pytest.raises(dmodc.RouteError):
        router.apply(fail=["L1-0/3"])
    assert router.dead == [] and router.tables().digest == before and router.tables().check()
    assert router.apply(repair=["L1-0/3"], changes=True).entries == 0

    calls = 0

    def moody(task: dmodc.SwitchTask) -> list[int]:
        """Fails from the 20th call on: in the middle of the second routing, and whenever it is tried again."""
        nonlocal calls
        calls += 1
        if calls > 20:
            raise RuntimeError("no more")
        return [int(row[0]) for row in task.ports[task.targets]]

    router = dmodc.Router(fabric, dmodc.engine(moody, name="moody"))
    with pytest.raises(dmodc.EngineError, match="make a new router"):
        router.apply(fail=["L2-0"])
    for use in (router.tables, router.apply, lambda: router.dead):
        with pytest.raises(dmodc.InputError, match="no tables any more"):
            use()


def test_numbers_of_numpy_are_numbers() -> None:
    fabric = dmodc.pgft(TUPLE)
    three = numpy.int64(3)
    assert fabric.degrade(cables=three, seed=three) == fabric.degrade(cables=3, seed=3)
    assert fabric.order(choose=three).json == fabric.order(choose=3).json
    assert "sound, every pair" in fabric.route().check()._repr_html_()


def test_a_fabric_is_a_graph_and_frames(tmp_path: pathlib.Path) -> None:
    fabric = dmodc.pgft(TUPLE).degrade(cables=2)
    fabric.write(tmp_path / "f.graphml", "graphml")
    ours, theirs = fabric.to_networkx(), networkx.read_graphml(tmp_path / "f.graphml", force_multigraph=True)
    assert dict(ours.nodes(data=True)) == dict(theirs.nodes(data=True))

    def edges(graph: networkx.MultiGraph) -> list[tuple[object, ...]]:
        return sorted((*sorted((a, b)), data["source_port"], data["target_port"]) for a, b, data in graph.edges(data=True))

    assert edges(ours) == edges(theirs)
    frames = fabric.to_pandas()
    assert len(frames.switches) == 16 and len(frames.cables) == 34 and len(frames.nodes) == 12
    assert frames.switches.level.max() == 3 and frames.switches.leaf.sum() == 6
    assert list(frames.nodes.columns)[:2] == ["guid", "name"]
    analysis = fabric.route().analyze("a2a")
    assert analysis.to_pandas()["a2a"].max() == analysis["a2a"].max


def test_html_is_escaped() -> None:
    text = pathlib.Path(__file__).parent / "odd.topo"
    fabric = dmodc.pgft(TUPLE)
    try:
        fabric.write(text)
        odd = dmodc.read(text.read_bytes().replace(b"L1-0", b"<b>&'L1"))
    finally:
        text.unlink()
    assert any(switch.name.startswith("<b>") for switch in odd.switches)
    tables = odd.route()
    for thing in (odd, tables, tables.check(), tables.analyze("a2a"), odd.whatif(parts="switches"), odd.order(), odd.drain(["L2-0"])):
        html = thing._repr_html_()
        assert "<b>" not in html and html.startswith("<table>")
    assert "&lt;b&gt;" in odd._repr_html_()
    assert odd.drawing().count("<circle") == 16
    large = dmodc.preset("director-648").drawing()
    assert large.startswith("<svg")
    assert len(dmodc.preset("two-directors-648").drawing()) < 20_000


def test_presets_and_pods() -> None:
    assert "director-648" in dmodc.presets()
    assert dmodc.pods(pods=2).route().check()
    assert dmodc.directors().route().check()
    assert dmodc.pgft(TUPLE, departures="missing=1", seed=3).cable_count == 35
