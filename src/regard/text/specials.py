"""The four ids that stand for no text, the same in every vocabulary, named here alone.

Inside a vocabulary a special's piece starts with a blank. No other piece does, for blanks are folded away or
stand alone before pieces are looked up; so a user's ``</s>`` is text like any other.
"""

PAD, UNK, BOS, EOS = range(4)

SPECIALS = ("<pad>", "<unk>", "<s>", "</s>")
"""How the specials are shown, by id."""

SPECIAL_PIECES = tuple(f" {name}" for name in SPECIALS)
"""The specials' pieces, by id."""

CONTROLS = frozenset({PAD, BOS, EOS})
"""The specials that stand for no text at all, whereas UNK stands for some that is not known."""
