"""The C library and the Python that calls it agree on what they hand to each other, and memory may run out."""

import ctypes
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from regard.ops.native import library, load, structs

compiled = pytest.mark.skipif(load().library is None, reason=f"no C kernels here: {load().reason}")

SOURCES = [path.read_text(encoding="utf-8") for path in library._files()]
PROTOTYPE = re.compile(r"^(void|int|long) (regard_\w+)\(([^)]*)\) \{", re.M)
FIELD = re.compile(r"^    ((?:const )?\w+) ([^;]+);", re.M)


def letter(declared):
    """The letter of one argument or field of C."""
    if "*" in declared:
        return "p"
    kind = declared.replace("const ", "").split()[0]
    return {"long": "l", "float": "f", "int": "i"}[kind]


def prototypes():
    """The signature of each kernel, as `library.KERNELS` writes it; internal functions have other types, too."""
    found = {}
    for gives, name, taken in (match for text in SOURCES for match in PROTOTYPE.findall(text)):
        if name in library.KERNELS:
            letters = [letter(each) for each in taken.split(",") if each.strip() not in ("", "void")]
            found[name] = (gives, "".join(letters))
    return found


@pytest.mark.skipif(
    library._compiler() is None or os.environ.get("REGARD_NATIVE") == "0", reason="no compiler, or turned off"
)
def test_where_there_is_a_compiler_there_are_kernels():
    """All tests of kernels are skipped without them, and would not notice."""
    assert load().library is not None, load().reason


def test_each_kernel_is_declared_as_it_is_written():
    """A status and a number are both an int in C; the table says which of them it is."""
    gives = {"": "void", "i": "int", "s": "int", "l": "long"}
    expected = {name: signature.split(":") for name, signature in library.KERNELS.items()}
    assert prototypes() == {name: (gives[result], taken) for name, (result, taken) in expected.items()}


@pytest.mark.parametrize("struct", structs.STRUCTS, ids=lambda struct: struct.c_name)
def test_each_structure_has_the_fields_of_its_header(struct):
    (body,) = (
        found
        for text in SOURCES
        for found in re.findall(rf"typedef struct {{\n([^}}]*)}} {struct.c_name};", text)
    )
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    fields = []
    for kind, names in FIELD.findall(body):
        fields += [(name.strip().lstrip("*"), letter(f"{kind} {name}")) for name in names.split(",")]
    kinds = {kind: key for key, kind in library.LETTERS.items()}
    assert [(name, kinds[kind]) for name, kind in struct._fields_] == fields


def test_no_kernel_ends_the_process():
    assert not re.findall(r"\b(?:abort|exit|assert)\(", "".join(SOURCES))


@compiled
def test_a_library_of_another_abi_is_made_anew_and_not_used_if_that_does_not_help(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made, compile_as_before = [], library._compile
    monkeypatch.setattr(library, "_compile", lambda *given: made.append(given) or compile_as_before(*given))
    load.cache_clear()
    try:
        assert load().library is not None
        monkeypatch.setattr(structs, "ABI", structs.ABI + 1)
        load.cache_clear()
        assert load().library is None
        assert len(made) == 2
        assert load().reason == (
            f"they are not those of this Python code (regard_abi is {structs.ABI - 1}, not {structs.ABI}); "
            "install Regard again"
        )
    finally:
        load.cache_clear()


@compiled
@pytest.mark.parametrize("struct", structs.STRUCTS, ids=lambda struct: struct.c_name)
def test_a_structure_of_another_size_is_noticed(struct, monkeypatch):
    assert not structs.difference(load().library)
    longer = type(
        "Longer",
        (ctypes.Structure,),
        {"c_name": struct.c_name, "_fields_": (*struct._fields_, ("more", ctypes.c_long))},
    )
    monkeypatch.setattr(structs, "STRUCTS", (longer,))
    size = ctypes.sizeof(struct)
    assert structs.difference(load().library) == f"regard_size_of_{struct.c_name} is {size}, not {size + 8}"


def test_a_library_that_does_not_say_its_abi_is_not_taken():
    with pytest.raises(ValueError, match="regard_abi"):
        structs.difference(ctypes.CDLL(None))


OUT_OF_MEMORY = """
import ctypes, resource, torch
from regard.ops.native import load, product, structs
torch.set_num_threads(2)
left, right = torch.randn(3, 1), torch.ones(1, 1).expand(1, 5)
expected = product(left, right)
with open("/proc/self/statm") as file:
    held = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + (1 << 28),) * 2)
one = torch.ones(1, 1)
wide = 1 << 14
lstm = structs.Recurrence(1, 0, wide, wide, 4 * wide, U=one.data_ptr(), threads=2)
for call in (
    lambda: product(one.expand(1, wide), one.expand(wide, wide)),
    lambda: load().library.regard_recurrence(ctypes.byref(lstm)),
    lambda: load().library.regard_product(*[None, 0, 0] * 2, None, None, 0, 1, 1 << 50, 1 << 40, 0, 0, 2),
):
    try:
        call()
    except MemoryError as error:
        print(error)
print(torch.equal(product(left, right), expected))
"""


@compiled
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_without_memory_a_kernel_raises_and_the_next_one_runs():
    run = subprocess.run([sys.executable, "-c", OUT_OF_MEMORY], capture_output=True, text=True, check=False)
    assert run.stdout.splitlines() == [
        *(
            f"regard_{name}: there is no memory for its scratch buffers"
            for name in ("product", "recurrence", "product")
        ),
        "True",
    ], run.stderr
