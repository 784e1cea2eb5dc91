"""Generating or copying: the probabilities of a pointer-generator."""

from regard.ops.pointer_generator.naive import copy_probs, generation_logits, pointer_generator

__all__ = ["copy_probs", "generation_logits", "pointer_generator"]
