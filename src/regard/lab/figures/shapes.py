"""The figure, the table and the remarks of the experiment on shapes.

In: its numbers, by shape. Out: a drawing with its caption, a table, remarks. Nothing is measured here.
"""

from collections.abc import Mapping
from typing import Any

from regard.lab.bench import Drawing, Grid
from regard.lab.measures.mended import mended
from regard.output.pictures import shapes as pictures

_CAPTION = (
    "The lecture's picture of boxes with a test example in each: inputs below, states in the middle, the trained "
    "network's own outputs above. A dashed line feeds an output to the next state; every state that writes sees the "
    "vector, or what the reading ended in, though one arrow stands for all; end marks are left out. The bar is the "
    "score on the test set, the notch the baseline. Which boxes exist is what tells the shapes apart: the cell in the "
    "middle is the same GRU."
)


def draw_shapes(shapes: Mapping[str, Mapping[str, Any]]) -> list[Drawing]:
    """All shapes in one picture, each with an example of its own."""
    shown = [pictures.Shape(name, **_shown(shape)) for name, shape in shapes.items()]
    return [Drawing("shapes", _CAPTION, pictures.draw_shapes(shown))]


def _shown(shape: Mapping[str, Any]) -> dict[str, Any]:
    """What the picture takes: outputs go on where no step reads, and what was meant is said where it was not given."""
    given = " ".join(word for word in shape["outputs"] if word is not None)
    return {
        **shape,
        "fed": None in shape["inputs"],
        "meant": "" if given == shape["meant"] else shape["meant"],
    }


def tabulate_shapes(shapes: Mapping[str, Mapping[str, Any]]) -> list[Grid]:
    """Every network beside its baseline."""
    rows = [
        [
            name,
            of["subtitle"],
            f"{of['measure']} {of['score']:.1f}",
            f"{of['baseline']:.1f} ({of['against']})",
            f"{mended(of['score'], of['baseline']):.0f} %".replace("-", "−"),
        ]
        for name, of in shapes.items()
    ]
    grid = Grid(
        "All shapes on their test sets.", ["shape", "what for what", "network", "baseline", "mended"], rows
    )
    return [grid]


def remark_shapes() -> list[str]:
    """What one step can do, how the last shape is made, and which examples are shown; the same for all numbers."""
    return [
        "One to one is no recurrent network's work: with one step there is no past. It is here as the lecture has "
        "it, and as a measure. Whoever sees a word alone can at best give its most frequent tag, so that table is "
        "its baseline and that of the same task in step; what lies above it there comes from the words before.",
        "The last shape is two of the others: many to one reads, one to many writes, and a state is all that passes "
        "between them. The sentences are short here; of long ones the experiments length and bottleneck tell. The "
        "decoder is the lecture's, which sees that state at every step. Where only its first state knew of the "
        "source, a run of this length, tried once, came no further than word for word (BLEU 28): the shape says what "
        "can be learnt, not how soon.",
        "An example is the first of the test set that is short enough to be drawn (and, for tags, holds a word that "
        "was seen with several); how well the network does on it is not asked.",
    ]
