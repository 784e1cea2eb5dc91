"""Deep fusion: `naive` states the equations; `ops/tape/persistent` runs them on a GPU."""

from regard.ops.deep_fusion.naive import Alphas, Fusion, SourceTape, deep_fusion, deep_fusion_step

__all__ = ["Alphas", "Fusion", "SourceTape", "deep_fusion", "deep_fusion_step"]
