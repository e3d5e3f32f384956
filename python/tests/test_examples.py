"""The examples: the tutorial's cells run, and the tuning's variants are right."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"


def test_the_tutorial_runs(tmp_path: pathlib.Path) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(EXAMPLES / "tutorial.ipynb", as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources).execute()
    shown = [o for cell in notebook.cells for o in cell.get("outputs", [])]
    html = [o["data"]["text/html"] for o in shown if "text/html" in o.get("data", {})]
    assert any("saxpy" in h for h in html) and any("F0004" in h for h in html) and any("<table>" in h for h in html)
    # The file in the repository has no outputs: they would be of another version.
    stored = json.loads((EXAMPLES / "tutorial.ipynb").read_text())
    assert not [cell for cell in stored["cells"] if cell.get("outputs")]


def test_the_tuning_runs_and_goes_on(tmp_path: pathlib.Path) -> None:
    results = tmp_path / "tuning.jsonl"
    call = [sys.executable, str(EXAMPLES / "tuning.py"), "--workers", "0", "--variants", "3", "--results", str(results)]
    said = subprocess.run(call, capture_output=True, text=True, check=True, timeout=120).stdout
    assert "3 variants, 0 of them wrong" in said
    before = results.read_bytes()
    assert subprocess.run(call, capture_output=True, text=True, check=True, timeout=120).stdout == said
    assert results.read_bytes() == before and len(before.splitlines()) == 3
