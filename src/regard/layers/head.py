"""A vector → logits: one matrix, or a hidden layer and one."""

from torch import Tensor, nn

from regard.ops.shapes import Float


class Head(nn.Module):
    """V tanh(W x + b) + c; without a hidden layer, V x + c.

    Args:
        input_size: the width of x.
        num_labels: how many logits.
        hidden_size: the hidden layer's units; 0 for no hidden layer.
        dropout: on x, and on the hidden layer.
    """

    def __init__(self, input_size: int, num_labels: int, hidden_size: int = 0, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.hidden = nn.Linear(input_size, hidden_size) if hidden_size else None
        self.output = nn.Linear(hidden_size or input_size, num_labels)
        for layer in (self.hidden, self.output):
            if layer is not None:
                nn.init.xavier_uniform_(layer.weight)
                nn.init.zeros_(layer.bias)

    def forward(self, x: Float[Tensor, "B d"]) -> Float[Tensor, "B labels"]:
        """Logits of each label."""
        x = self.dropout(x)
        if self.hidden is not None:
            x = self.dropout(self.hidden(x).tanh())
        logits: Tensor = self.output(x)
        return logits
