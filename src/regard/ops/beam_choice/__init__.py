"""The choice of a beam's step, from logits to what goes on: `naive` in torch, `persistent` in two launches on a GPU.

The two have different signatures: `naive.choose` takes the words of `ops/best_words` and returns what was chosen,
`persistent.choose_` takes logits and writes into the tensors of a search.
"""

from regard.ops.beam_choice.naive import NEVER as NEVER
from regard.ops.beam_choice.naive import Choice as Choice
from regard.ops.beam_choice.naive import choose as choose
