"""Ways to damage or forge a file: what disks, transfers and attackers leave.

In: a generator of random numbers and a path. Out: another file there, or something that is not a file. Checksums and
sizes that a forger would adapt are adapted. Knows nothing of commands.
"""

import bz2
import gzip
import json
import lzma
import math
import os
import random
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
import torch

from regard.tensors import read_tensors, write_tensors


def damage_bytes(rng: random.Random, path: Path) -> None:
    """Cut short, lengthened, emptied, or with bytes changed, as a disk or a transfer does."""
    content = bytearray(path.read_bytes())
    place = rng.randrange(len(content) + 1)
    match rng.randrange(6):
        case 0:
            del content[place:]
        case 1:
            content[place:place] = rng.randbytes(rng.choice([1, 8, 1000]))
        case 2:
            content[place : place + 4096] = bytes(len(content[place : place + 4096]))
        case 3:
            for _ in range(rng.choice([1, 3, 30])):
                if content:
                    content[rng.randrange(len(content))] = rng.randrange(256)
        case 4:
            content = bytearray(rng.randbytes(rng.randrange(2000)))
        case 5:
            del content[place : place + rng.choice([1, 100])]
    path.write_bytes(bytes(content))


def replace_file(rng: random.Random, path: Path) -> None:
    """Something else than a file."""
    path.unlink()
    match rng.randrange(5):
        case 0:
            os.mkfifo(path)
        case 1:
            path.mkdir()
        case 2:
            path.symlink_to(
                rng.choice(["/dev/zero", "/dev/null", "/dev/full", "/proc/self/mem", "/dev/random"])
            )
        case 3:
            path.symlink_to(path.name)
        case 4:
            with path.open("wb") as file:
                file.truncate(rng.choice([1 << 30, 1 << 36]))  # a sparse file


NUMBERS = (0, -1, 1, 3, 20_000, 65_536, 1_000_000, 2**31, 2**53, 2**63, 2**64, 10**30, 10**400, 0.5, 1e308)
_TEXTS = ("", "word", "\x1b[2J\x9b", "[/bold]", "\ud800", "../../etc", "/", "-", "\0", "x" * 100_000)
_VALUES: tuple[Any, ...] = (*NUMBERS, *_TEXTS, math.inf, math.nan, None, True, [], {}, [[]], {"": 0})


def _deep(rng: random.Random) -> Any:
    value: Any = 0
    for _ in range(rng.choice([40, 60, 400])):
        value = [value] if rng.random() < 0.5 else {"model": value}
    return value


def forge(rng: random.Random, value: Any) -> Any:
    """The same JSON with one place changed."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        changed = dict(value)
        key = rng.choice(list(changed))
        match rng.randrange(8):
            case 0:
                del changed[key]
            case 1:
                changed[rng.choice(["x", "", "kind", "merges", "padding", "ensemble"])] = changed[key]
            case _:
                changed[key] = forge(rng, changed[key])
        return changed
    if isinstance(value, list) and value and rng.random() < 0.8:
        place = rng.randrange(len(value))
        return [
            *value[:place],
            *[forge(rng, value[place])] * rng.choice([0, 1, 1, 1, 2]),
            *value[place + 1 :],
        ]
    return _deep(rng) if rng.random() < 0.1 else rng.choice(_VALUES)


def forge_json(rng: random.Random, path: Path) -> None:
    """Wrong types, wrong numbers, deep nesting; the checksum of a tokenizer is forged with it."""
    content = path.read_text(encoding="utf-8")
    forged = forge(rng, json.loads(content))
    text = json.dumps(forged) if rng.random() < 0.95 else rng.choice(["[", '{"a":']) * 50_000
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    description = path.parent / "regard.json"
    if path.name.endswith(".tokenizer.json"):
        known = json.loads(description.read_text())
        name = path.name.removesuffix(".tokenizer.json")
        known["checksums"][name] = f"{zlib.crc32(path.read_bytes()):08x}"
        with suppress(Exception):
            known["sizes"][name] = len(forged["tokenizer"]["model"]["vocab"]) + len(
                forged.get("features", [])
            )
        description.write_text(json.dumps(known))


_ADDED = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
SECTIONS: dict[str, Any] = {
    "truncation": {"direction": "Right", "max_length": 1, "strategy": "LongestFirst", "stride": 0},
    "padding": {
        "strategy": {"Fixed": 1 << 33},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 9999,
        "pad_type_id": 0,
        "pad_token": "x",
    },
    "added_tokens": [{"id": 9999, "content": "cat", **_ADDED}],
    "normalizer": {
        "type": "Sequence",
        "normalizers": [{"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}] * 40,
    },
    "pre_tokenizer": {
        "type": "Split",
        "pattern": {"Regex": "(a*)*b"},
        "behavior": "Isolated",
        "invert": False,
    },
    "post_processor": {
        "type": "ByteLevel",
        "add_prefix_space": True,
        "trim_offsets": True,
        "use_regex": True,
    },
}
"""Parts of a tokenizer that the library knows and this package does not write."""


def forge_tokenizer(rng: random.Random, path: Path) -> None:
    """Sections that the library knows and this package does not write, and ids beyond the vocabulary."""
    content = json.loads(path.read_text(encoding="utf-8"))
    engine = content["tokenizer"]
    name = rng.choice([*SECTIONS, "ids", "model"])
    if name == "ids":
        vocabulary = engine["model"]["vocab"]
        if isinstance(vocabulary, dict):
            vocabulary[rng.choice(list(vocabulary))] = rng.choice([0, 5, 9999, 2**32 - 1, 2**40])
        else:
            vocabulary.append(["x", rng.choice([0, -1e300])])
    elif name == "model":
        key = rng.choice([key for key in engine["model"] if key not in ("vocab", "merges")])
        engine["model"][key] = rng.choice([None, 1, True, "cat", 0.5, 99])
    else:
        engine[name] = SECTIONS[name]
    path.write_text(json.dumps(content))
    description = path.parent / "regard.json"
    known = json.loads(description.read_text())
    known["checksums"][path.name.removesuffix(".tokenizer.json")] = f"{zlib.crc32(path.read_bytes()):08x}"
    description.write_text(json.dumps(known))


def forge_header(rng: random.Random, path: Path) -> None:
    """A header of safetensors that says something else than the rest of the file."""
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = forge(rng, json.loads(content[8 : 8 + size]))
    text = json.dumps(header).encode("utf-8", "surrogatepass")
    length = len(text) if rng.random() < 0.9 else rng.choice([0, 1 << 24, 1 << 40, 2**64 - 1])
    path.write_bytes(length.to_bytes(8, "little") + text + content[8 + size :])


def forge_tensors(rng: random.Random, path: Path) -> None:
    """Tensors with other numbers, shapes, types or names, or other facts beside them, with the right checksum."""
    tensors, facts = read_tensors(path)
    if not tensors or rng.random() < 0.5:
        facts = forge(rng, facts)
    else:
        name = rng.choice(list(tensors))
        tensor = tensors.pop(name)
        match rng.randrange(5):
            case 0:
                tensors[name.replace("0", "9") + rng.choice(["", "x", "/"])] = tensor
            case 1:
                tensors[name] = tensor.flatten()[: tensor.numel() // 2]
            case 2:
                tensors[name] = tensor.to(rng.choice([torch.int64, torch.uint8, torch.float64]))
            case 3:
                tensors[name] = torch.full_like(tensor, rng.choice([0, 1, 255]))
    if isinstance(facts, dict):
        write_tensors(path, tensors, facts)


def forge_arrays(rng: random.Random, path: Path) -> None:
    """Arrays of a shortlist with other numbers, shapes and types."""
    arrays = safetensors.numpy.load_file(path)
    name = rng.choice(list(arrays))
    array = arrays[name].copy()
    match rng.randrange(4):
        case 0:
            array[rng.randrange(len(array))] = rng.choice([-1, 10**6, 2**62])
        case 1:
            array = array[: len(array) // 2]
        case 2:
            array = array.astype(rng.choice([np.float32, np.int8, np.bool_]))
        case 3:
            array = array[:, None]
    arrays[name] = np.ascontiguousarray(array)
    metadata = {
        "target_size": rng.choice(["15", "-1", "x", "1" * 5000]),
        "facts": rng.choice(["{}", "[", "3"]),
    }
    with safetensors.safe_open(path, "np") as file:
        metadata = file.metadata() if rng.random() < 0.7 else metadata
    safetensors.numpy.save_file(arrays, path, metadata)


_MOST_CHARACTERS, _MOST_LINES = (
    500_000,
    20_000,
)  # so that time is spent on what is hostile, not on what is long


def _text(rng: random.Random) -> bytes:
    """Lines that nobody would write."""
    line = rng.choice(
        ["the old cat", "x" * 100_000, "a " * 20_000, "é\u0301" * 1000, "\ufeff", "🐈" * 50, "\t" * 3000]
    )
    content = rng.choice(
        [
            rng.randbytes(rng.choice([10, 100_000])),
            bytes(rng.choice([10, 1 << 20, 1 << 27])),
            f"{line}\n".encode()
            * rng.choice([1, 3, min(_MOST_LINES, 1 + _MOST_CHARACTERS // (1 + len(line)))]),
            f"{line}\n".encode() * 3 + b"\xff\xfe\n",
            b"\x1b]0;x\x07\x9b\r\n" * 10,
            "\n".join(
                rng.choices(["cat dog", "", " ", "a\tb", "\u2028", "one\tthe cat", "0-0 1?1"], k=30)
            ).encode(),
            json.dumps(forge(rng, {"prefix": "the", "include": ["cat"], "exclude": []})).encode(
                "utf-8", "replace"
            ),
            b"[" * 100_000,
            b"cat/NOUN runs/VERB\n0-0 99999999999999999999-1 x\n",
        ]
    )
    return bytes(content)


def write_input(rng: random.Random, folder: Path) -> Path:
    """A file of hostile text, perhaps compressed, and then perhaps damaged."""
    suffix, pack = rng.choice(
        [("", bytes), ("", bytes), (".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)]
    )
    path = folder / f"input.txt{suffix}"
    path.write_bytes(pack(_text(rng)))
    if suffix and rng.random() < 0.3:
        damage_bytes(rng, path)
    return path
