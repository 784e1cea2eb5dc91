"""The figures, the table and the remarks of the experiment on alignment.

In: its numbers, and how the model read the pairs that were chosen. Out: drawings with captions, a table, remarks.
Nothing is measured here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from regard.lab.bench import Drawing, Grid
from regard.lab.measures.aligners import ALIGNERS
from regard.lab.measures.link_kinds import KINDS
from regard.lab.measures.telling_pairs import where
from regard.output.pictures.bars import Measure, draw_bars
from regard.output.pictures.heatmap import HeatMap, sheet
from regard.output.translation import Translation
from regard.output.wording import power_of_ten
from regard.worlds import Example

_NAMES = {"attention": "attention", "diagonal": "the diagonal", "untrained": "the untrained model"}
_ENOUGH = 20  # words, to speak of what they get


def draw_alignment(
    numbers: Mapping[str, Any],
    examples: Sequence[Example],
    read: Sequence[Translation],
    shown: Mapping[str, int],
) -> list[Drawing]:
    """The chosen pairs as heat maps in one picture, unless none was chosen; and what is found of each kind of word.

    Args:
        numbers: of the experiment.
        examples: all pairs.
        read: as the model reads each of them.
        shown: the places of the chosen ones, by title.
    """
    pairs = [_pairs(examples, read, shown)] if shown else []
    return [*pairs, _kinds(numbers)]


def _pairs(examples: Sequence[Example], read: Sequence[Translation], shown: Mapping[str, int]) -> Drawing:
    maps = []
    for title, k in shown.items():
        drawn = read[k].word_alpha
        assert drawn is not None, "RNNsearch attends"
        maps.append(HeatMap(drawn.alpha, drawn.source_labels, drawn.target_labels, examples[k].gold, title))
    places = ". ".join(f"{t[0].upper()}{t[1:]}: {where(t, examples[k])}" for t, k in shown.items())
    caption = (
        "Attention while reading held-out pairs, in the paper's manner: English along the top, French down the side, "
        "black 0 and white 1. Boxes are gold links (broken: possible ones), which the model never saw; the pairs were "
        f"chosen by them alone. Where attention is alignment, white falls into boxes. {places}."
    )
    return Drawing("sheet", caption, sheet(maps))


def _kinds(numbers: Mapping[str, Any]) -> Drawing:
    kinds = numbers["kinds"]
    measures = [
        Measure(
            "linked rightly (%)",
            [kinds[kind][name] for kind in KINDS],
            form="{:.0f}",
            title=_NAMES[name],
            ranging=(0, 100),
        )
        for name in ALIGNERS
    ]
    return Drawing(
        "kinds",
        "French words linked to an English word that a gold link allows, by kind of word; in brackets, how many words "
        "are of the kind. The diagonal is a fair aligner as long as words keep their order. Whether attention is more "
        "than that shows where links cross.",
        draw_bars([f"{kind} ({kinds[kind]['words']})" for kind in KINDS], measures),
    )


def tabulate_alignment(numbers: Mapping[str, Any]) -> list[Grid]:
    """The scores of each aligner, and of the attention while the model writes."""
    parts, own = ("aer", "precision", "recall", "weight"), numbers["own_output"]
    rows = {_NAMES[name]: numbers["aligners"][name] for name in ALIGNERS}
    last = ""
    if own["sentences"]:
        rows[f"attention while writing ({own['sentences']} pairs)"] = own
        last = " The last row is the model writing by itself with a beam of 5, where what it writes is the reference."
    grid = Grid(
        f"Links against gold links, in percent; weight is how much of the attention of French words that have "
        f"a gold link lies on gold links.{last}",
        ["aligner", "AER", "precision", "recall", "weight"],
        [[name, *(f"{row[part]:.1f}" for part in parts)] for name, row in rows.items()],
    )
    return [grid]


def remark_alignment(numbers: Mapping[str, Any]) -> list[str]:
    """How good the model is, what its attention passes over, and a slip of a lecture."""
    own, without, found = numbers["own_output"], numbers["without_counterpart"], numbers["aligners"]
    quality = (
        f"The model translates {numbers['exact_match']:.0f} % of {numbers['sentences']} held-out sentences word for "
        f"word (BLEU {numbers['bleu']:.1f})."
    )
    if own["sentences"]:
        quality += (
            " Where it writes the reference by itself, its attention differs from that of reading it by at most "
            f"{power_of_ten(own['furthest_from_forced'])}: forced decoding shows what the model does."
        )
    remarks = [
        quality,
        "Each French word is given one English word, the strongest; of several sure links to one word all but one are "
        "missed. “No sure link” is what the grammar calls only possible, such as “est-ce qu'” for a question.",
        f"Attention is soft: {found['attention']['weight']:.0f} % of the attention of French words that have a gold "
        f"link lies on gold links, and {found['attention']['precision']:.0f} % of the strongest weights do. The "
        f"diagonal puts all its weight on one word, so that its {found['diagonal']['weight']:.0f} % are the words it "
        "links rightly.",
        "One lecture prints Σ_i a_{t,i} = 0 under the softmax. The weights sum to 1: no row here is further from it "
        f"than {power_of_ten(numbers['sum_of_a_row'])}.",
    ]
    if without["words"]:
        remarks.insert(1, _without_counterpart(without))
    return remarks


def _without_counterpart(without: Mapping[str, float]) -> str:
    """What English words get that no gold link touches, and what that says where there are enough of them."""
    told = (
        f"“Some words might have no counter-part”: an English word that no gold link touches ({without['words']} of "
        f"them) gets {without['received']:.2f} from all French words together, another English word "
        f"{without['received_by_others']:.2f}, where 1 is all the attention of one French word. "
    )
    if without["words"] < _ENOUGH:
        return told + "These are too few to say more."
    if without["received"] < without["received_by_others"] / 2:
        return told + "It is passed over."
    return told + (
        "It is not passed over. A possible reason: the annotation of a word tells of its neighbours too, and looking "
        "at “on” can be as good as looking at “Friday”."
    )
