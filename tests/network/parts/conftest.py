"""Folders with graphs, as those of extraction."""

from tests.network.onnx.conftest import graph  # noqa: F401
