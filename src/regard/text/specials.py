"""The ids of the four special symbols, the same in every vocabulary; defined here alone.

Inside a vocabulary a special symbol's piece starts with a blank. No other piece does, because blanks are folded away or
are pieces of their own before pieces are looked up; so a user's ``</s>`` is text like any other.
"""

PAD, UNK, BOS, EOS = range(4)

SPECIALS = ("<pad>", "<unk>", "<s>", "</s>")
"""How the special symbols are displayed, by id."""

SPECIAL_PIECES = tuple(f" {name}" for name in SPECIALS)
"""Their pieces in a vocabulary, by id."""

CONTROLS = frozenset({PAD, BOS, EOS})
"""The special symbols without any text; UNK is text that is not in the vocabulary."""
