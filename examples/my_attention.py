"""Adding an attention: the scaled cosine of query and annotation (content addressing, Graves et al. 2014).

e_ij = β cos(W s_i, h_j), β a parameter. What follows the energies (normaliser, windows) is the same for all attentions.
"""

import tempfile

import torch
from torch import nn
from torch.nn.functional import normalize, softplus

import regard
from regard.layers import ENERGIES, Attention


class Cosine(Attention):
    """e_ij = β cos(W s_i, h_j), content addressing (Graves et al. 2014)."""

    def __init__(self, query_size, annotation_size):
        super().__init__(query_size, annotation_size, query_width=annotation_size)
        # a cell that attends to its own past projects its queries itself; query_size is then None
        self.W = None if query_size is None else nn.Linear(query_size, annotation_size, bias=False)
        self.sharpness = nn.Parameter(torch.tensor([5.0]))

    def keys(self, annotations):
        """(B, Tx, d) → (B, Tx, d), computed once per sentence."""
        return normalize(annotations, dim=-1)

    def queries(self, query):
        """(B, Q, n) → (B, Q, d), computed at each step."""
        return normalize(query if self.W is None else self.W(query), dim=-1)

    def score(self, projected, keys):
        """(B, Q, d) and (B, Tx, d) → the energies (B, Q, Tx)."""
        return softplus(self.sharpness) * projected @ keys.transpose(1, 2)


ENERGIES["cosine"] = Cosine  # from here on, "cosine" is an energy like any other


def main() -> None:
    """Train it on a small task, two words reversed and in capitals, and print the links."""
    words = ["one", "two", "three", "four", "five", "six"]
    pairs = [(f"{a} {b}", f"{b} {a}".upper()) for a in words for b in words]
    part = {"embedding_size": 16, "state_size": 16, "dropout": 0.0}
    config = {
        "tokenizer": {"source": "word", "target": "word"},
        "model": {
            "encoder": part,
            "decoder": {**part, "attention": {"energy": "cosine"}, "readout_size": 16},
        },
        "training": {
            "learning_rate": 0.02,
            "warmup": 0,
            "label_smoothing": 0.0,
            "max_epochs": 60,
            "validate_every": 30,
        },
    }
    with tempfile.TemporaryDirectory() as folder:
        regard.train(folder, pairs, pairs, config=config)
        translator = regard.Translator.load(folder)
        for translation in translator.translate(["one two", "five three"]):
            print(f"{translation.source} → {translation.text}  {sorted(translation.links)}")


if __name__ == "__main__":
    main()
