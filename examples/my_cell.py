"""Adding a cell: the minimal gated unit (Zhou et al. 2016), a GRU whose update and reset gates are one.

f_t = σ(W_f x_t + U_f h_{t−1} + b_f), h̃_t = tanh(W_h x_t + U_h (f_t∘h_{t−1}) + b_h), h_t = (1−f_t)∘h_{t−1} + f_t∘h̃_t.
"""

import tempfile

import regard
from regard.layers import CELLS, Cell
from regard.ops.record import Equation, record

EQUATIONS = {
    "gate": Equation("f_t = σ(W_f x_t + U_f h_{t−1} + b_f)"),
    "candidate": Equation("h̃_t = tanh(W_h x_t + U_h (f_t ∘ h_{t−1}) + b_h)"),
    "state": Equation("h_t = (1 − f_t) ∘ h_{t−1} + f_t ∘ h̃_t"),
}


class MinimalGatedUnit(Cell):
    """The minimal gated unit (Zhou et al. 2016): one gate for update and reset."""

    num_gates = 2  # W, U and b hold two blocks of n rows: the gate's and the candidate's

    def step(self, projected, previous_state, state_mask=None):
        """W x_t + b (B, 2n) and (h_{t−1},) → (h_t,); `state_mask` is recurrent dropout, (B, n)."""
        (h,) = previous_state
        recurrent = h if state_mask is None else h * state_mask
        x_f, x_h = projected.chunk(2, dim=-1)
        U_f, U_h = self.U.chunk(2)
        gate = (x_f + recurrent @ U_f.T).sigmoid()
        candidate = (x_h + (gate * recurrent) @ U_h.T).tanh()
        state = (1 - gate) * h + gate * candidate
        record(EQUATIONS, gate=gate, candidate=candidate, state=state)
        return (state,)


CELLS["mgu"] = MinimalGatedUnit  # from here on, "mgu" is a cell like any other


def main() -> None:
    """Train it as encoder and decoder on a small task: two words, reversed and in capitals."""
    words = ["one", "two", "three", "four", "five", "six"]
    pairs = [(f"{a} {b}", f"{b} {a}".upper()) for a in words for b in words]
    part = {"cell": "mgu", "embedding_size": 16, "state_size": 16, "dropout": 0.0}
    config = {
        "tokenizer": {"source": "word", "target": "word"},
        "model": {"encoder": part, "decoder": {**part, "attention": {"size": 16}, "readout_size": 16}},
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
            print(f"{translation.source} → {translation.text}")


if __name__ == "__main__":
    main()
