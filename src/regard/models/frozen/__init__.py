"""Models made ready for decoding on a CPU: their matrices laid out once, in float32, bfloat16 or int8."""

from regard.models.frozen.freeze import freeze

__all__ = ["freeze"]
