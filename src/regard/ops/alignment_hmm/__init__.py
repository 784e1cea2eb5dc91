"""The hidden Markov model of word alignment: posteriors of a latent alignment with jumps and a null word."""

from regard.ops.alignment_hmm.fused import hmm_posteriors
from regard.ops.alignment_hmm.naive import Posteriors

__all__ = ["Posteriors", "hmm_posteriors"]
