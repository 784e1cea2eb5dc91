"""A plot of your own: the entropy of the attention at each step, so that one sees where the model hesitates."""

import sys

import numpy as np

from regard.plots import save
from regard.plots.figures.canvas import FONT_SIZE, new_figure, style_axes
from regard.plots.figures.fonts import families_for, renderable


def draw_entropy(tokens, alpha):
    """Draw −Σ_j α_ij log₂ α_ij in bits for each target token.

    Args:
        tokens: Ty labels.
        alpha: (Ty, Tx), rows that sum to 1.
    """
    entropy = -(alpha * np.log2(np.where(alpha > 0, alpha, 1))).sum(axis=1)  # (Ty,)
    families = families_for(tokens)
    figure = new_figure(1.5 + 0.6 * len(tokens), 2.4)
    axes = figure.add_axes((0.12, 0.14, 0.85, 0.8))
    axes.bar(range(len(tokens)), entropy, width=0.6)
    labels = [renderable(token, families) for token in tokens]
    axes.set_xticks(range(len(tokens)), labels, family=families, size=FONT_SIZE)
    axes.set_ylabel("attention entropy (bits)", size=FONT_SIZE)
    style_axes(axes, families)
    return figure


def main(path: str = "entropy.png") -> None:
    """Draw one sentence; a `Translation` has `tokens` and `alpha` by these names."""
    tokens = ("le", "chat", "noir", "dort", "</s>")
    alpha = np.array(
        [
            [0.94, 0.02, 0.02, 0.01, 0.01],
            [0.03, 0.25, 0.70, 0.01, 0.01],
            [0.02, 0.60, 0.36, 0.01, 0.01],
            [0.01, 0.01, 0.03, 0.93, 0.02],
            [0.00, 0.00, 0.00, 0.00, 1.00],
        ]
    )
    save(draw_entropy(tokens, alpha), path)
    print(f"wrote {path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
