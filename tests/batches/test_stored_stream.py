"""Continuous text from a store is that of memory, window by window."""

import random
from types import SimpleNamespace

import pytest
import torch

from regard.batches import Stream
from regard.batches import stored_stream as module
from regard.batches.store import Store, write_manifest, write_part
from regard.batches.stored_stream import StoredStream
from regard.errors import DataError


def build(folder, lines, build=lambda ids: SimpleNamespace(ids=ids)):
    folder.mkdir(exist_ok=True)
    cut = len(lines) // 3 + 1
    parts = [
        write_part(folder / f"{k}.arrow", {"ids": lines[start : start + cut]})
        for k, start in enumerate(range(0, len(lines), cut))
    ]
    write_manifest(folder, parts, {"ids": 99}, {})
    return Store(folder, build)


@pytest.mark.parametrize("block", [1, 2, 7, 1000])
@pytest.mark.parametrize(("num_streams", "steps"), [(1, 1), (1, 50), (3, 4), (7, 2), (20, 3)])
def test_windows_are_those_of_the_text_in_memory(tmp_path, monkeypatch, block, num_streams, steps):
    monkeypatch.setattr(module, "_BLOCK", block)
    rng = random.Random(1)
    lines = [[rng.randrange(4, 99) for _ in range(rng.choice([0, 0, 1, 3, 9]))] for _ in range(40)]
    stored, memory = (
        StoredStream(build(tmp_path, lines), num_streams, steps),
        Stream(lines, num_streams, steps),
    )
    assert len(stored) == len(memory)
    for k in reversed(range(len(memory))):  # in any order
        one, other = stored[k], memory[k]
        assert one.continues == other.continues
        for name in ("previous_ids", "target_ids", "mask"):
            assert torch.equal(getattr(one, name), getattr(other, name)), (k, name)


def test_more_streams_than_tokens_are_refused(tmp_path):
    with pytest.raises(DataError, match="5 tokens, EOS counted, cannot be cut into 6 streams"):
        StoredStream(build(tmp_path, [[4, 5], [6]]), 6, 1)


def test_lengths_that_are_not_those_of_the_lines_are_refused(tmp_path):
    store = build(tmp_path, [[4, 5], [6]], lambda ids: SimpleNamespace(ids=ids[:1]))
    with pytest.raises(DataError, match="line 0 has another length; prepare the store again"):
        StoredStream(store, 1, 3)[0]
