"""GRUs that differ from Cho's in their equations; `naive` states them, and no other path has them."""

from regard.ops.gru_variants.naive import mut1_step, mut3_step

__all__ = ["mut1_step", "mut3_step"]
