"""The interpreter is free while Rust computes, and Ctrl-C works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import dmodc


def test_python_runs_while_rust_computes() -> None:
    tables = dmodc.preset("director-648").route()
    counted, stop = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not stop.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        # Fast machines need more work until the other thread had its turn many times. If the interpreter were not free, it would
        # have none, however long the work takes.
        for permutations in (2_000, 20_000, 200_000):
            before = counted
            tables.analyze(f"rp:{permutations}")
            if counted - before > 10:
                break
        assert counted - before > 10, "the other thread ran meanwhile"
    finally:
        stop.set()
        thread.join()


def test_many_threads_ask_at_once() -> None:
    fabric = dmodc.pgft("3; 4,4,4; 1,2,2; 1,1,1")
    expected = fabric.route().digest
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(fabric.route().digest)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


@pytest.mark.parametrize(
    "call",
    [
        "fabric.whatif(double='all')",
        "tables.analyze(['rp:100000'] + [f'sp:{n}' for n in range(600, 640)], seed=3)",
        "fabric.route(dmodc.engine(slow))",
        "dmodc.study(plan, engines=[dmodc.engine(slow)])",
    ],
)
def test_control_c_interrupts(call: str) -> None:
    program = f"""
import time, dmodc
fabric = dmodc.preset("director-648")
tables = fabric.route()
def slow(task):
    time.sleep(0.2)
    return [255] * len(task.lids)
plan = '''name = "slow"
draws = 9
engines = ["dmodc"]
patterns = ["a2a"]
[[fabric]]
preset = "director-648"
[[degradation]]
cables = ["1%"]
'''
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", dmodc.pgft("2; 2,2; 1,2; 1,1").route().routed > 0, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        start = time.monotonic()
        os.kill(process.pid, signal.SIGINT)
        assert process.stdout.readline() == "interrupted True\n"
        assert time.monotonic() - start < 10, "the answer comes soon"
        process.kill()


def test_importing_needs_nothing_and_is_fast(capsys: pytest.CaptureFixture[str]) -> None:
    program = (
        "import sys, time; before = time.perf_counter(); import dmodc; "
        "print((time.perf_counter() - before) * 1000, 'numpy' in sys.modules, 'pandas' in sys.modules, "
        "'networkx' in sys.modules)"
    )
    runs = [subprocess.check_output([sys.executable, "-c", program], text=True).split() for _ in range(5)]
    assert all(run[1:] == ["False"] * 3 for run in runs)
    with capsys.disabled():
        print(f"\nimport dmodc: {min(float(run[0]) for run in runs):.1f} ms")
