"""`benchmarks.reading`: every reader reads the program that the examples have."""

import importlib.util
import zipfile
from pathlib import Path

import pytest

from benchmarks.reading import READERS

MODEL = Path(__file__).resolve().parents[2] / "examples/models/gpt2.pt2"


@pytest.mark.parametrize("reader", READERS)
def test_reader_reads_a_whole_program(reader):
    if reader == "msgspec" and not importlib.util.find_spec("msgspec"):
        pytest.skip("msgspec is not installed")
    with zipfile.ZipFile(MODEL) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith("models/model.json")]
        text = archive.read(name)
    program = READERS[reader]()(text)
    module = program["graph_module"] if reader == "json" else program.graph_module
    nodes = module["graph"]["nodes"] if reader == "json" else module.graph.nodes
    assert len(nodes) > 100
