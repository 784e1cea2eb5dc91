"""The C kernels beside this file, compiled once for this processor and loaded.

In: the sources and the compiler of the machine. Out: the loaded library, or the reason why there is none; every op then
takes its path in torch. The compiled library is kept in the user's cache, under a name made of the sources, the
compiler and the processor, so that it is compiled again when one of them changes, and of its own size and SHA-256, so
that it is compiled again when it is damaged. What another user could have written is never loaded. A library whose
ABI number or structures are not those of `structs` is compiled again, and not used if that does not help.
"""

import atexit
import ctypes
import hashlib
import os
import platform
import shutil
import stat
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch

from regard.ops.native.structs import NO_MEMORY, difference

_SOURCES = Path(__file__).parent / "source"
_ALLOWED = (
    "-fno-math-errno",
    "-fno-strict-aliasing",
)  # pairs of bfloat16 are written one by one and read as words
_FLAGS = ("-O3", "-std=gnu11", "-fPIC", *_ALLOWED, "-fopenmp", "-shared")
_SANITIZED = (
    "-O1",
    "-g",
    "-fno-omit-frame-pointer",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
)
_TIMEOUT = 600  # seconds; a busy machine may need minutes
_MAX_BYTES = 1 << 26
_MAKING = "making-"  # the start of a folder's name in which a library is compiled
_UNUSED = 90 * 24 * 3600  # seconds after which a library is removed when another one is compiled


@dataclass(frozen=True)
class Loaded:
    """What came of compiling.

    Attributes:
        library: the kernels, or None.
        reason: why there are none, a clause for the user; empty where there are.
    """

    library: ctypes.CDLL | None
    reason: str = ""

    @property
    def path(self) -> Path | None:
        """Where the kernels are."""
        return None if self.library is None else Path(self.library._name)


@cache
def load() -> Loaded:
    """Compile the kernels, if that was not done before, and load them.

    ``REGARD_NATIVE=0`` in the environment says to do without, ``REGARD_NATIVE=sanitize`` to check memory and
    arithmetic while they run (``make sanitize``; slow). ``REGARD_NATIVE_MARCH`` names the processor to compile for, as
    gcc's ``-march`` does (x86-64-v3, armv8-a); by default it is the one at hand.
    """
    if os.environ.get("REGARD_NATIVE") == "0":
        return Loaded(None, "REGARD_NATIVE=0 turns them off")
    compiler = _compiler()
    if compiler is None:
        return Loaded(None, "no C compiler was found; install one, or name its absolute path in CC")
    try:
        folder, key = _cache(), _key(compiler)
        library = _opened(compiler, folder, key)
        different = difference(library)
        if different:
            return Loaded(None, f"they are not those of this Python code ({different}); install Regard again")
        return Loaded(_declared(library))
    except subprocess.CalledProcessError as error:
        return Loaded(None, f"{compiler[0]} could not compile them: {_first_error(error.stderr)}")
    except (OSError, subprocess.SubprocessError, AttributeError, ValueError) as error:
        return Loaded(None, f"they could not be made: {error}")


def _opened(compiler: list[str], folder: Path, key: str) -> ctypes.CDLL:
    """The library of a key in the cache, compiled if there is none that can be trusted and loaded and that fits."""
    for path in folder.glob(f"kernels-{key}-*.so"):
        if _is_whole(path):
            with suppress(OSError, ValueError):
                library = ctypes.CDLL(str(path))
                if not difference(library):
                    return library
        with suppress(OSError):
            path.unlink()
    return ctypes.CDLL(str(_compile(compiler, folder, key)))


def _is_whole(path: Path) -> bool:
    """Whether a library is the user's own, and has the size and the SHA-256 in its name; a shorter one is SIGBUS."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or not _is_private(status):
                return False
            return path.name.endswith(_fingerprint(file.read(_MAX_BYTES)))
    except OSError:
        return False


def _fingerprint(content: bytes) -> str:
    """The end of a library's name."""
    return f"-{len(content)}-{hashlib.sha256(content).hexdigest()}.so"


def _is_private(status: os.stat_result) -> bool:
    """Whether a file or folder is owned by this user, and nobody else can write it."""
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _first_error(text: str) -> str:
    lines = [line for line in text.splitlines() if "error" in line] or text.splitlines()
    return lines[0].strip() if lines else "it gave no reason"


def _compiler() -> list[str] | None:
    """The compiler's path and first arguments: what CC says, such as ``ccache gcc``, or one of the usual ones.

    The path is absolute: a compiler is not taken from the folder that the user happens to be in.
    """
    named = os.environ.get("CC", "").strip()
    commands = [[named], named.split()] if named else [["cc"], ["gcc"], ["clang"]]
    found = ((shutil.which(name), rest) for name, *rest in commands)
    return next(([path, *rest] for path, rest in found if path and os.path.isabs(path)), None)


def _cache() -> Path:
    """The folder for compiled kernels: the user's cache, or one for this process alone.

    The latter where the cache cannot be written, or others can write it.
    """
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME", ""))
        folder = (base if base.is_absolute() else Path.home() / ".cache") / "regard"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_uid == os.geteuid():
            folder.chmod(0o700)  # an earlier version left it to the user's umask
        if not folder.is_absolute() or not _is_private(folder.stat()):
            raise PermissionError(f"{folder}: others can write it")
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):  # the latter if there is no home directory
        own = tempfile.mkdtemp(prefix="regard-")
        atexit.register(shutil.rmtree, own, ignore_errors=True)
        return Path(own)


def _flags() -> tuple[str, ...]:
    flags = (f"-march={os.environ.get('REGARD_NATIVE_MARCH') or 'native'}", *_FLAGS)
    return flags + _SANITIZED if os.environ.get("REGARD_NATIVE") == "sanitize" else flags


def _files() -> list[Path]:
    return sorted(path for path in _SOURCES.iterdir() if path.suffix in (".c", ".h"))


def _key(compiler: list[str]) -> str:
    """A name for sources, compiler, processor and runtime together."""
    said = _said([*compiler, "--version"])
    digest = hashlib.sha256()
    for part in (*compiler, said, _processor(), " ".join(_flags()), *_runtime()):
        digest.update(part.encode())
    for path in _files():
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _processor() -> str:
    """The processor's model and features, if the system lists them."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.machine() + platform.processor()
    wanted = ("model name", "flags", "Features", "CPU part")
    return "\n".join(sorted({line for line in lines if line.startswith(wanted)})) or platform.machine()


def _runtime() -> list[str]:
    """The OpenMP runtime torch has loaded, to be linked: with a single pool, threads do not compete for cores."""
    try:
        mapped = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    paths = {line.split(maxsplit=5)[-1] for line in mapped.splitlines() if "/" in line}
    found = [path for path in paths if Path(path).name.startswith(("libgomp", "libomp", "libiomp"))]
    home = str(Path(torch.__file__).parent)  # beside it also lies torch.libs
    return sorted(found, key=lambda path: (not path.startswith(home), path))[:1]


def _said(command: list[str]) -> str:
    """The output of a command; if it fails, the error has its messages."""
    return subprocess.run(
        command, capture_output=True, text=True, errors="replace", check=True, timeout=_TIMEOUT
    ).stdout


def _compile(compiler: list[str], folder: Path, key: str) -> Path:
    """Compile into the cache: a file there is complete and on the disk, or absent; return its path."""
    _remove_leftovers(folder)
    with tempfile.TemporaryDirectory(prefix=_MAKING, dir=folder) as own:
        made = Path(own) / "kernels.so"
        sources = [str(source) for source in _files() if source.suffix == ".c"]
        _said([*compiler, *_flags(), *sources, *_runtime(), "-lm", "-o", str(made)])
        made.chmod(0o700)
        path = folder / f"kernels-{key}{_fingerprint(made.read_bytes())}"
        _sync(made)
        os.replace(made, path)
        _sync(folder)
    return path


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_leftovers(folder: Path) -> None:
    """Remove what killed compilations left, and libraries that were compiled long ago."""
    for path in folder.iterdir():
        longest = {_MAKING: 2 * _TIMEOUT, "kernels-": _UNUSED}.get(path.name[: path.name.find("-") + 1])
        with suppress(OSError):
            if longest is not None and time.time() - path.lstat().st_mtime > longest:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _declared(library: ctypes.CDLL) -> ctypes.CDLL:
    """Say what each kernel takes and gives; a library that lacks one is refused."""
    for name, signature in KERNELS.items():
        result, letters = signature.split(":")
        kernel = getattr(library, name)
        kernel.argtypes = [LETTERS[letter] for letter in letters]
        kernel.restype = ctypes.c_int if result == "s" else LETTERS.get(result)
        if result == "s":
            kernel.errcheck = _checked
    return library


def _checked(status: int, kernel: Any, arguments: Any) -> int:
    """What a kernel came to, where it did not run out of memory."""
    if status == NO_MEMORY:
        raise MemoryError(f"{kernel.__name__}: there is no memory for its scratch buffers")
    return status


LETTERS = {"p": ctypes.c_void_p, "l": ctypes.c_long, "f": ctypes.c_float, "i": ctypes.c_int}
"""Of the types in `KERNELS`."""


KERNELS = {
    "regard_narrow": "i:",
    "regard_packed_bytes": "l:lli",
    "regard_pack": ":plp",
    "regard_packed_product": "s:pplpiplli",
    "regard_product": "s:pllpllpplllliii",
    "regard_softmax_loss": ":pppllfi",
    "regard_recurrence": "s:p",
    "regard_recurrence_back": "s:p",
    "regard_read": "s:ippppppllii",
    "regard_additive_energies": ":pppplllli",
    "regard_best_words": ":ppllllppi",
    "regard_luong_step": "s:" + "p" * 11 + "i",
    "regard_bahdanau_step": "s:" + "p" * 9 + "i",
}
"""What each kernel gives (nothing, a number, or s: a status) and what it takes, a letter an argument."""
