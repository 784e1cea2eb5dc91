"""The forward algorithm of hard monotonic attention as Triton kernels: a program per sentence goes through its steps.

A step holds T_i(j′, j) = p(a_i = j ∣ a_{i−1} = j′) as one tile of `X` × `X`, computed on both passes. See
`persistent` for the derivatives and `naive` for the equations. Imported only where Triton is.
"""

from typing import no_type_check

import triton
import triton.language as tl


@triton.jit
@no_type_check
def _log_sum(values, AXIS: tl.constexpr):
    """Log Σ exp along an axis of a tile; finite where all values are."""
    top = tl.max(values, AXIS)
    return top + tl.log(tl.sum(tl.exp(values - tl.expand_dims(top, AXIS)), AXIS))


@triton.jit
@no_type_check
def _log_transitions(energies, real, place, NEVER: tl.constexpr):
    """Log T_i, a row for each j′ (X, X); NEVER below the diagonal and on padding."""
    allowed = (place[None, :] >= place[:, None]) & real[None, :]
    row = tl.where(allowed, energies[None, :], NEVER)
    normalizers = _log_sum(row, 1)
    # a row of padding has no word ahead: its normalizer would be NEVER, too
    return tl.where(allowed & real[:, None], row - normalizers[:, None], NEVER)


@triton.jit
@no_type_check
def forward_steps(ENERGIES, EMISSIONS, MASK, PRIORS, FILTERED, Ty, Tx, NEVER: tl.constexpr, X: tl.constexpr):
    """Log π_i and log φ_i of every step of one sentence, (Ty, Tx) each."""
    b = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, X)
    inside = place < Tx
    real = tl.load(MASK + b * Tx + place, mask=inside, other=0) != 0
    log_filtered = tl.where(place == 0, 0.0, NEVER).to(ENERGIES.dtype.element_ty)
    for i in range(Ty):
        at = (b * Ty + i) * Tx + place
        energies = tl.load(ENERGIES + at, mask=inside, other=0.0)
        emissions = tl.load(EMISSIONS + at, mask=inside, other=0.0)
        log_transitions = _log_transitions(energies, real, place, NEVER)
        log_prior = tl.where(real, _log_sum(log_filtered[:, None] + log_transitions, 0), NEVER)
        seen = tl.where(real, log_prior + emissions, NEVER)
        log_filtered = tl.where(real, seen - _log_sum(seen, 0), NEVER)
        tl.store(PRIORS + at, log_prior, mask=inside)
        tl.store(FILTERED + at, log_filtered, mask=inside)


@triton.jit
@no_type_check
def backward_steps(
    ENERGIES, MASK, PRIORS, FILTERED, D_PRIORS, D_ENERGIES, D_EMISSIONS, Ty, Tx, NEVER: tl.constexpr, X: tl.constexpr
):  # fmt: skip
    """The derivatives by energies and emissions, from the last step to the first."""
    b = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, X)
    inside = place < Tx
    real = tl.load(MASK + b * Tx + place, mask=inside, other=0) != 0
    first = tl.where(place == 0, 0.0, NEVER).to(ENERGIES.dtype.element_ty)
    d_filtered = tl.zeros([X], ENERGIES.dtype.element_ty)
    for step in range(Ty):
        i = Ty - 1 - step
        at = (b * Ty + i) * Tx + place
        log_filtered = tl.load(FILTERED + at, mask=inside, other=NEVER)
        d_seen = tl.where(real, d_filtered - tl.exp(log_filtered) * tl.sum(d_filtered, 0), 0.0)
        d_prior = tl.where(real, tl.load(D_PRIORS + at, mask=inside, other=0.0) + d_seen, 0.0)
        energies = tl.load(ENERGIES + at, mask=inside, other=0.0)
        log_transitions = _log_transitions(energies, real, place, NEVER)
        log_prior = tl.load(PRIORS + at, mask=inside, other=0.0)
        before = tl.load(FILTERED + at - Tx, mask=inside & (i > 0), other=NEVER)
        before = tl.where(i > 0, before, first)
        came_from = tl.exp(before[:, None] + log_transitions - tl.where(real, log_prior, 0.0)[None, :])
        d_filtered = tl.where(real, tl.sum(came_from * d_prior[None, :], 1), 0.0)
        d_energies = d_prior - tl.sum(d_filtered[:, None] * tl.exp(log_transitions), 0)
        tl.store(D_ENERGIES + at, tl.where(real, d_energies, 0.0), mask=inside)
        tl.store(D_EMISSIONS + at, d_seen, mask=inside)
