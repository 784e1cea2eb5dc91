"""A store returns what was written, whole or in ranges, and refuses whatever else it finds."""

import itertools
import json
import os

import numpy as np
import pyarrow
import pytest

from regard.batches import store as module
from regard.batches.store import MANIFEST, Store, is_store, is_whole, write_manifest, write_part
from regard.errors import DataError, MissingExtraError

PAIRS = [([4, 5], [6]), ([], [7]), ([9], []), ([8, 8, 8], [4, 5, 6, 7]), ([5], [5])]
SIZES = {"source": 10, "target": 8}


def write(folder, pairs=PAIRS, cuts=(0, 2, 3, None), facts=None):
    folder.mkdir(exist_ok=True)
    parts = []
    for start, end in itertools.pairwise(cuts):
        sources, targets = zip(*pairs[start:end], strict=True)
        parts.append(write_part(folder / f"{start:05d}.arrow", {"source": sources, "target": targets}))
    (folder / "words.txt").write_text("a b c\n")
    write_manifest(folder, parts, SIZES, facts or {"task": "translate"}, ["words.txt"])
    return parts


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "store")
    return tmp_path / "store"


def open_store(folder):
    return Store(folder, lambda source, target: (source, target))


def test_what_was_written_is_read(folder):
    store = open_store(folder)
    assert list(store) == PAIRS
    assert len(store) == 5
    assert store[-1] == PAIRS[-1]
    assert store[1:4] == PAIRS[1:4]
    assert store.lengths.tolist() == [3, 2, 2, 5, 2]
    assert store.num_tokens == sum(len(source) + len(target) for source, target in PAIRS)
    assert store.facts == {"task": "translate"}
    assert store.vocabularies == SIZES
    with pytest.raises(IndexError):
        store[5]


@pytest.mark.parametrize("cuts", [(0, None), (0, 1, 2, 3, 4, None), (0, 4, None)])
def test_the_parts_change_nothing(tmp_path, cuts):
    write(tmp_path / "s", cuts=cuts)
    store = open_store(tmp_path / "s")
    assert list(store) == PAIRS
    assert store.lengths.tolist() == [3, 2, 2, 5, 2]


def test_ranges_without_overlap_are_the_whole(folder):
    store = open_store(folder)
    shards = [store[start : start + 2] for start in range(0, 6, 2)]
    assert [pair for shard in shards for pair in shard] == PAIRS


def test_pages_that_are_given_back_are_read_again(folder, monkeypatch):
    monkeypatch.setattr(module, "_RELEASE_EVERY", 2)
    store = open_store(folder)
    assert list(store) * 3 == PAIRS * 3
    store.release()
    assert list(store) == PAIRS


def test_equal_stores_have_equal_checksums_and_others_do_not(tmp_path, folder):
    write(tmp_path / "again")
    write(tmp_path / "other", pairs=[*PAIRS[:-1], ([5], [6])])
    assert open_store(tmp_path / "again").sha256 == open_store(folder).sha256
    assert open_store(tmp_path / "other").sha256 != open_store(folder).sha256


def test_a_folder_without_manifest_is_not_a_store(folder):
    assert is_store(folder)
    (folder / MANIFEST).unlink()
    assert not is_store(folder)
    with pytest.raises(DataError, match=r"store\.json: cannot be read"):
        open_store(folder)


def test_an_example_with_a_damaged_id_is_refused_and_the_others_are_read(folder):
    path = folder / "00003.arrow"
    content = bytearray(path.read_bytes())
    place = content.index(np.array([8, 8, 8], "<i4").tobytes())
    content[place] = 9  # an id of the vocabulary: only its checksum tells
    path.write_bytes(content)
    store = open_store(folder)
    assert store[:3] == PAIRS[:3]
    assert store[4] == PAIRS[4]
    with pytest.raises(DataError, match=r"00003\.arrow: example 0 in it is damaged; make the store again"):
        store[3]


def test_ids_outside_the_vocabulary_are_refused(tmp_path):
    write(tmp_path / "s", pairs=[([4], [8]), ([-1], [4]), ([10], [4])], cuts=(0, None))
    store = open_store(tmp_path / "s")
    for k in range(3):
        with pytest.raises(DataError, match="damaged"):
            store[k]


def damaged(name, change):
    def damage(folder):
        path = folder / name
        path.write_bytes(change(path.read_bytes()))

    return damage


def edited(**changes):
    def damage(folder):
        manifest = json.loads((folder / MANIFEST).read_text())
        (folder / MANIFEST).write_text(json.dumps(manifest | changes))

    return damage


def replaced_by_fifo(folder):
    (folder / "00000.arrow").unlink()
    os.mkfifo(folder / "00000.arrow")


PART = {"file": "00000.arrow", "records": 2, "tokens": 4, "bytes": 1, "sha256": ""}
DAMAGES = {
    "a part cut short": damaged("00000.arrow", lambda content: content[:-9]),
    "a part of zeros": damaged("00000.arrow", lambda content: bytes(len(content))),
    "a part without bytes": damaged("00000.arrow", lambda content: b""),
    "a part that is missing": lambda folder: (folder / "00000.arrow").unlink(),
    "a pipe": replaced_by_fifo,
    "other lengths": damaged("lengths.arrow", lambda content: content.replace(b"\x05\0\0\0", b"\x06\0\0\0")),
    "a changed file": damaged("words.txt", lambda content: b"a b d\n"),
    "not JSON": damaged(MANIFEST, lambda content: content[:-5]),
    "deep JSON": damaged(MANIFEST, lambda content: b"[" * 100_000),
    "a list": damaged(MANIFEST, lambda content: b"[]"),
    "a newer format": edited(format=2),
    "a format in words": edited(format="new"),
    "no parts": edited(parts=[]),
    "a part in another folder": edited(parts=[PART | {"file": "../00000.arrow"}]),
    "a part of another size": edited(parts=[PART]),
    "a part of negative size": edited(parts=[PART | {"records": -1}]),
    "a part without name": edited(parts=[{}]),
    "other columns": edited(vocabularies={"text": 10}),
    "sizes in words": edited(vocabularies={"source": "ten", "target": "8"}),
    "no lengths": edited(files={}),
    "a file elsewhere": edited(files={"/etc/passwd": "0", "lengths.arrow": "0"}),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_an_error_that_names_the_file_and_the_remedy(folder, name):
    DAMAGES[name](folder)
    with pytest.raises(DataError, match=r"store/.*; (make the store again|update)"):
        open_store(folder)


def test_every_flipped_byte_of_a_part_is_found_or_harmless(folder):
    content = (folder / "00003.arrow").read_bytes()
    for place in range(0, len(content), 7):
        (folder / "00003.arrow").write_bytes(
            content[:place] + bytes([content[place] ^ 0x41]) + content[place + 1 :]
        )
        try:
            assert list(open_store(folder)) == PAIRS
        except DataError:
            continue


def test_a_part_that_is_not_as_it_was_written_is_known(folder, tmp_path):
    (part, *_) = write(tmp_path / "again")
    assert is_whole(folder, part)
    damaged(part.file, lambda content: content[:-1] + b"x")(folder)
    assert not is_whole(folder, part)
    (folder / part.file).unlink()
    assert not is_whole(folder, part)


def test_without_pyarrow_the_extra_is_named(folder, monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="needs pyarrow"):
        open_store(folder)


def test_a_part_is_an_arrow_file(folder):
    with pyarrow.memory_map(str(folder / "00000.arrow")) as file:
        table = pyarrow.ipc.open_file(file).read_all()
    assert table.column("source").to_pylist() == [[4, 5], []]
