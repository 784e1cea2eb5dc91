"""Recipes for strings: spelling to sound and inflection, by the plan alone.

The configurations are empty on purpose: these are the figures of ``regard train MODEL --train FILE`` and nothing else.
"""

from collections.abc import Mapping
from pathlib import Path

from regard.recipes.recipe import Arm, Corpus, Figure, Recipe

_LSTM_2020 = {
    "ady": 28.00,
    "arm": 14.67,
    "dut": 16.44,
    "fre": 6.22,
    "geo": 26.44,
    "gre": 18.89,
    "hin": 6.67,
    "hun": 5.33,
    "ice": 10.00,
    "jpn": 7.56,
    "kor": 46.89,
    "rum": 10.67,
    "vie": 4.67,
}
_BASELINE_2021 = {
    "medium/dut": 14.7,
    "medium/fre": 8.5,
    "medium/hun": 1.8,
    "medium/kor": 16.3,
    "low/ady": 22.0,
    "low/gre": 21.0,
    "low/ita": 19.0,
}
_MED_2016 = {"arabic": 95.47, "finnish": 96.80, "german": 95.80, "spanish": 98.84, "turkish": 98.93}


class _Parts:
    """Files as they are, one for each part of a data set.

    Args:
        pattern: their path in the folder of data sets, with ``{}`` for train, dev and test.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    def __call__(self, data: Path, made: Path) -> Corpus:
        del made
        train, valid, test = (data / self._pattern.format(part) for part in ("train", "dev", "test"))
        return Corpus([train], [valid], {"test": [test]})


def _spelling(folder: str, published: Mapping[str, float], source: str, *, ensemble: bool) -> list[Arm]:
    return [
        Arm(
            name=name.replace("/", "-"),
            corpus=_Parts(f"{folder}/{name}_{{}}.tsv.xz"),
            figures={"test": [Figure(wer / 100, source, ensemble=ensemble)]},
        )
        for name, wer in published.items()
    ]


G2P_2020 = Recipe(
    name="g2p-2020",
    title="Spelling to sound, SIGMORPHON 2020, 13 of its 15 languages",
    conditions="3,600 training words per language, WER on 450; the data, metric and split of the shared task",
    metric="wer",
    others=("per",),
    arms=_spelling("sigmorphon2020-g2p", _LSTM_2020, "LSTM baseline, Gorman et al. 2020", ensemble=False),
    figures=(
        Figure(0.155, "LSTM baseline, Gorman et al. 2020: 15.57 on these 13"),
        Figure(0.135, "to reach with five seeds", ensemble=True),
    ),
    seeds=5,
)

G2P_2021 = Recipe(
    name="g2p-2021",
    title="Spelling to sound, SIGMORPHON 2021: four languages of 8,000 words, three of 800",
    conditions="WER on 1,000 and 100 words; the data, metric and split of the shared task",
    metric="wer",
    others=("per",),
    arms=_spelling(
        "sigmorphon2021-g2p",
        _BASELINE_2021,
        "baseline, an ensemble of neural transducers, Ashby et al. 2021",
        ensemble=True,
    ),
    seeds=5,
)

INFLECTION_2016 = Recipe(
    name="inflection-2016",
    title="Inflection, SIGMORPHON 2016 task 1, five languages",
    conditions="exact match on the test set; the data, metric and split of the shared task",
    metric="exact_match",
    arms=[
        Arm(
            name=language,
            corpus=_Parts(f"sigmorphon2016-inflection/{language}-task1-{{}}.xz"),
            arguments=("--features", "2"),
            figures={
                "test": [
                    Figure(accuracy / 100, "MED, an ensemble of five, Kann & Schütze 2016", ensemble=True)
                ]
            },
        )
        for language, accuracy in _MED_2016.items()
    ],
    seeds=5,
)
