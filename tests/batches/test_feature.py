"""Vectors and descriptions: a vector is a source of one position, a description is padded as any target."""

import numpy as np
import torch

from regard.batches import pad_captioned, pad_lines

FEATURES = [np.array([1, 2], dtype=np.float32), np.array([3, 4], dtype=np.float32)]


def tensors(batch):
    """Its tensors, in the order of the fields."""
    return [value for value in vars(batch).values() if isinstance(value, torch.Tensor)]


def test_features_are_stacked_and_descriptions_padded_as_lines():
    batch = pad_captioned(FEATURES, [[4, 5], []])
    assert batch.features.tolist() == [[1, 2], [3, 4]]
    assert batch.features.dtype == torch.float32
    assert all(map(torch.equal, tensors(batch)[1:], tensors(pad_lines([[4, 5], []]))))
    assert batch.source_mask.tolist() == [[True], [True]]


def test_a_batch_moves_whole():
    batch = pad_captioned(FEATURES, [[4], [5]]).to("meta")
    assert all(tensor.device.type == "meta" for tensor in (*tensors(batch), batch.source_mask))
