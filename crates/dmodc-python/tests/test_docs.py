"""Types, the reference page and the notebook."""

from __future__ import annotations

import inspect
import pathlib
import subprocess
import sys

import pytest
from conftest import ROOT

import dmodc

PACKAGE = pathlib.Path(dmodc.__file__).parent


def test_types_are_strict() -> None:
    pytest.importorskip("mypy")
    sample = pathlib.Path(__file__).with_name("sample.py")
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(PACKAGE), str(sample)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_stub_is_that_of_the_extension() -> None:
    pytest.importorskip("mypy")
    run = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "dmodc._native", "--ignore-disjoint-bases"],
        capture_output=True,
        text=True,
        check=False,
        cwd=PACKAGE.parent,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_sample_runs() -> None:
    sample = pathlib.Path(__file__).with_name("sample.py")
    subprocess.run([sys.executable, str(sample)], check=True, timeout=120)


def public_names() -> list[str]:
    """Returns every public name, with the methods of classes."""
    names = []
    for name in dmodc.__all__:
        thing = getattr(dmodc, name)
        names.append(name)
        if inspect.isclass(thing) and not issubclass(thing, BaseException):
            members = {**vars(thing), **getattr(thing, "__dataclass_fields__", {})}
            names += [f"{name}.{member}" for member in members if not member.startswith("_")]
    return names


def test_every_public_name_is_on_the_reference_page() -> None:
    page = (ROOT / "docs/src/reference/python.md").read_text()
    missing = [name for name in public_names() if f"`{name}" not in page]
    assert not missing


def test_everything_public_has_a_description() -> None:
    for name in public_names():
        thing: object = dmodc
        for part in name.split("."):
            thing = inspect.getattr_static(thing, part, None)
        if callable(thing) or isinstance(thing, property):
            assert inspect.getdoc(thing), name


def test_the_notebook_runs() -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(ROOT / "docs/notebooks/compare-engines.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") for cell in notebook.cells), "outputs are cleared"
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("text/html" in output.get("data", {}) for output in outputs)
