"""Tensors in a file with a checksum: what the library reads, and equal files for equal content."""

import safetensors.torch
import torch

from regard.tensors import read_tensors, write_tensors


def test_the_file_is_what_the_library_reads(tmp_path):
    """Every type, odd sizes, a scalar and an empty tensor; equal content is an equal file."""
    tensors = {
        "z": torch.arange(5, dtype=torch.uint8),
        "a": torch.randn(3, 5, dtype=torch.float64),
        "half": torch.randn(3).half(),
        "brain": torch.randn(7).bfloat16(),
        "step": torch.tensor(3.0),
        "none": torch.empty(0, 4),
        "long": torch.arange(3),
        "flag": torch.tensor([True, False, True]),
        "turned": torch.randn(4, 3).T,
    }
    for name in ("one", "other"):
        write_tensors(tmp_path / name, tensors, {"b": 1, "a": 2})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    loaded = safetensors.torch.load_file(tmp_path / "one")
    assert loaded.keys() == tensors.keys()
    for key, tensor in tensors.items():
        assert loaded[key].dtype == tensor.dtype
        assert torch.equal(loaded[key], tensor)
    assert read_tensors(tmp_path / "one")[1] == {"b": 1, "a": 2}
