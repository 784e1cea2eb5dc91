"""What Python and the C kernels hand to each other, field by field as the headers in ``source`` have it.

`ABI` and the sizes of the structures are compared with the library's when it is loaded: one that was made for another
Python code would read and write memory that is not its own.
"""

import ctypes
from typing import Any, ClassVar

ABI = 7
"""The number of ``source/abi.c``: raised by one whenever what a kernel takes or gives changes."""

NO_MEMORY, NO_SUCH_WORD = 1, 2
"""How a kernel that gives a status ends where it does nothing, as in ``source/scratch.h``; 0 where all is done."""


def _fields(kind: Any, *names: str) -> tuple[tuple[str, Any], ...]:
    return tuple((name, kind) for name in names)


class Matrix(ctypes.Structure):
    """``packed`` of ``packed.h``: a matrix laid out in panels."""

    c_name: ClassVar[str] = "packed"
    _fields_ = (
        *_fields(ctypes.c_long, "inner", "columns"),
        *_fields(ctypes.c_int, "kind"),
        *_fields(ctypes.c_void_p, "panels", "unit", "offset"),
    )


class Decoder(ctypes.Structure):
    """``decoder`` of ``decoding.h``."""

    c_name: ClassVar[str] = "decoder"
    _fields_ = (
        *_fields(ctypes.c_long, "n", "a", "d", "l", "m", "g", "V"),
        *_fields(ctypes.c_void_p, "W", "U", "F", "W_a", "W_c", "V_o", "C_o", "W_o"),
        *_fields(ctypes.c_void_p, "E", "b", "table", "b_r", "v", "b_o"),
        *_fields(ctypes.c_float, "scale"),
        *_fields(ctypes.c_int, "lstm"),
    )


class Sentences(ctypes.Structure):
    """``sentences`` of ``decoding.h``: what a step attends to."""

    c_name: ClassVar[str] = "sentences"
    _fields_ = (
        *_fields(ctypes.c_long, "B", "Tx", "R"),
        *_fields(ctypes.c_void_p, "keys", "values", "there"),
    )


class Reading(ctypes.Structure):
    """``reading`` of ``recurrence.h``: a memory that the steps of a recurrence read."""

    c_name: ClassVar[str] = "reading"
    _fields_ = (
        *_fields(ctypes.c_long, "slots", "p", "d", "span", "offset"),
        *_fields(ctypes.c_void_p, "there", "matrix", "v", "keys", "values", "queries", "reads", "alpha"),
        *_fields(ctypes.c_void_p, "d_alpha", "d_queries", "d_reads", "d_keys", "d_values", "d_v"),
        *_fields(ctypes.c_float, "scale"),
        *_fields(ctypes.c_int, "asks"),
    )


class Level(ctypes.Structure):
    """``level`` of ``recurrence.h``: a layer above the first one."""

    c_name: ClassVar[str] = "level"
    _fields_ = (
        *_fields(
            ctypes.c_void_p, "W", "U", "b", "p", "dropped", "state_mask", "h", "c", "inputs", "previous"
        ),
        *_fields(ctypes.c_void_p, "gates", "gated", "memories", "d_h", "d_c", "d_gates"),
    )


class Recurrence(ctypes.Structure):
    """``recurrence`` of ``recurrence.h``."""

    c_name: ClassVar[str] = "recurrence"
    _fields_ = (
        *_fields(ctypes.c_long, "B", "T", "n", "met", "wide", "layers"),
        *_fields(
            ctypes.c_void_p, "source", "past", "above", "there", "projected", "U", "p", "J", "U_a", "W_h"
        ),
        *_fields(ctypes.c_void_p, "state_mask", "dropped", "h", "c", "s", "r", "fed", "states", "readouts"),
        *_fields(ctypes.c_void_p, "previous", "memories", "gates", "gated"),
        *_fields(
            ctypes.c_void_p, "d_states", "d_readouts", "d_projected", "d_h", "d_c", "d_s", "d_r", "d_fed"
        ),
        *_fields(ctypes.c_int, "cell", "enters", "reverse", "narrow", "threads"),
    )


STRUCTS = (Matrix, Decoder, Sentences, Reading, Level, Recurrence)

CELLS = ("lstm", "lstm-plain", "rnn", "rnn-sigmoid", "lstm-peephole", "gru")
"""The cells of ``source/cell.h``, in its order; ``lstm-plain`` is h = o ∘ c."""

ASKS = ("previous state", "new state", "last read")
ENTERS = ("gates", "state", "memory", "readout")
"""What asks, and where that which was read goes, in the order of ``source/recurrence.h``."""


def difference(library: ctypes.CDLL) -> str:
    """What the library and this module do not agree on, a clause for the user; empty where they agree.

    Raises:
        ValueError: the library does not say it.
    """
    wanted = {"regard_abi": ABI} | {
        f"regard_size_of_{struct.c_name}": ctypes.sizeof(struct) for struct in STRUCTS
    }
    found = {name: ctypes.c_long.in_dll(library, name).value for name in wanted}
    return ", ".join(
        f"{name} is {found[name]}, not {number}" for name, number in wanted.items() if found[name] != number
    )
