from regard.text import BOS, EOS, PAD, SPECIALS, UNK
from regard.text.specials import CONTROLS, SPECIAL_PIECES


def test_ids_and_names_are_those_that_models_on_disk_rely_on():
    assert {name: SPECIALS.index(name) for name in SPECIALS} == {
        "<pad>": PAD,
        "<unk>": UNK,
        "<s>": BOS,
        "</s>": EOS,
    }
    assert (PAD, UNK, BOS, EOS) == (0, 1, 2, 3)
    assert {PAD, BOS, EOS} == CONTROLS
    assert all(piece == f" {name}" for piece, name in zip(SPECIAL_PIECES, SPECIALS, strict=True))
