"""Forks, other processes, and the end of Python."""

from __future__ import annotations

import multiprocessing
import pickle
import subprocess
import sys

import pytest

import dmodc

TUPLE = "3; 2,2,3; 1,2,2; 1,2,1"


def ends_well(program: str) -> str:
    """Runs a program, which must end in time and by itself. Returns what it prints, errors and warnings included."""
    command = [sys.executable, "-c", program]
    run = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=120
    )
    assert run.returncode == 0, (run.returncode, run.stdout)
    return run.stdout


def test_a_forked_process_computes() -> None:
    program = """
import os, dmodc
fabric = dmodc.preset("director-648")
mine = fabric.route("stable").digest
for depth in range(3):
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0
        assert os.read(reader, 100).decode() == mine
        os._exit(0)
    os.write(writer, fabric.route("stable").digest.encode())
    assert fabric.route().analyze("a2a,rp:10")["a2a"].max > 0
"""
    ends_well(program)


def digest(tuple: str) -> str:
    return dmodc.pgft(tuple).route().digest


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_of_a_pool_compute(method: str) -> None:
    expected = digest(TUPLE)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(digest, [TUPLE] * 4).get(timeout=100) == [expected] * 4


def test_python_ends_while_an_engine_works() -> None:
    """Work that is left behind must not call a Python that takes itself apart, and must not raise anything there."""
    program = """
import threading, time, dmodc
def slow(task):
    time.sleep(0.001)
    return [row[0] for row in task.ports[task.targets]]
fabric = dmodc.pgft("3; 4,4,4; 1,4,4; 1,1,1")
def work():
    while True:
        fabric.route(dmodc.engine(slow))
threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
"""
    for _ in range(3):
        assert ends_well(program) == ""


def test_errors_and_results_travel_between_processes() -> None:
    with pytest.raises(dmodc.ReadError) as failed:
        dmodc.read(b"garbage")
    again = pickle.loads(pickle.dumps(failed.value))
    assert (str(again), again.file, again.line) == (str(failed.value), failed.value.file, failed.value.line)
    with pytest.raises(dmodc.FileError) as absent:
        dmodc.read("absent.topo")
    again = pickle.loads(pickle.dumps(absent.value))
    assert (str(again), again.errno) == (str(absent.value), 2)
    analysis = dmodc.pgft(TUPLE).route().analyze("a2a,sp", rates=True)
    copy = pickle.loads(pickle.dumps(analysis))
    assert copy == analysis and (copy.loads("a2a") == analysis.loads("a2a")).all()
