"""Recipes for strings: spelling to sound, inflection and transliteration, by the plan alone.

The configurations are empty on purpose: these are the figures of ``regard train MODEL --train FILE`` and nothing else.
"""

from collections.abc import Mapping
from pathlib import Path

from regard.recipes.recipe import Arm, Corpus, Figure, Recipe, write_lines
from regard.recipes.splits import split_groups
from regard.text.formats import read_file

_SPLIT_SEED = 1

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
_TRANSDUCERS_2021 = "baseline, an ensemble of neural transducers, Ashby et al. 2021"
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
    """An arm per language; a name such as ``low/ady`` is a path in the folder."""
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
    title="Spelling to sound, SIGMORPHON 2021: English with 33,344 words, four languages of 8,000, three of 800",
    conditions="WER on 4,168, 1,000 and 100 words; the data, metric and split of the shared task",
    metric="wer",
    others=("per",),
    arms=[
        # the figure of their ensemble, to reach with a single model
        *_spelling("sigmorphon2021-g2p", {"high/eng_us": 41.9}, _TRANSDUCERS_2021, ensemble=False),
        *_spelling("sigmorphon2021-g2p", _BASELINE_2021, _TRANSDUCERS_2021, ensemble=True),
    ],
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


def _cmudict(data: Path, made: Path) -> Corpus:
    """Words of letters and apostrophes, and their phones without stress; a word with all its pronunciations."""
    entries = []
    for line in read_file(data / "cmudict" / "cmudict.dict.xz"):
        word, *phones = line.partition("#")[0].split()
        word = word.partition("(")[0]
        if word.replace("'", "").isalpha():
            entries.append(f"{word}\t{' '.join(phone.rstrip('012') for phone in phones)}")
    entries = list(dict.fromkeys(entries))  # some differ in stress alone
    split = split_groups(
        entries, lambda entry: [entry.partition("\t")[0]], num_valid=2670, num_test=12_000, seed=_SPLIT_SEED
    )
    train, valid, test = (
        write_lines(made / f"{name}.tsv", part)
        for name, part in (("train", split.train), ("valid", split.valid), ("test", split.test))
    )
    return Corpus([train], [valid], {"test": [test]})


CMUDICT = Recipe(
    name="cmudict",
    title="Spelling to sound, CMUdict",
    conditions=(
        "a seeded split that shares no word, of the sizes of PRONALSYL's (about 12,000 test and 2,670 validation "
        "entries), stress removed; a word is right if it is any of its pronunciations. Published figures are on "
        "PRONALSYL's split of an older release, which is not here: not like for like (an LSTM of 23.3 there has about "
        "31 on the newest release, by the README of g2p-seq2seq)"
    ),
    metric="wer",
    others=("per",),
    arms=[
        Arm(
            name="english",
            corpus=_cmudict,
            evaluate=("--any-reference",),
            figures={
                "test": [
                    Figure(0.217, "global attention, Toshniwal & Livescu 2016 (recalled)"),
                    Figure(0.202, "an ensemble of five, Toshniwal & Livescu 2016 (recalled)", ensemble=True),
                ]
            },
        )
    ],
    seeds=5,
)

DAKSHINA_HI = Recipe(
    name="dakshina-hi",
    title="Transliteration, Latin to Devanagari, Dakshina Hindi",
    conditions=(
        "single words, the split of Dakshina 1.0, WER with CER beside (as PER); every attested romanisation of a "
        "training word is one pair, and of a test word one test item, right if it is any native word attested for it. "
        "The paper's own weights of items were not seen"
    ),
    metric="wer",
    others=("per",),
    arms=[
        Arm(
            name="hindi",
            corpus=_Parts("dakshina-hi/hi.translit.sampled.{}.tsv.xz"),
            arguments=("--columns", "1", "2"),
            evaluate=("--any-reference",),
            figures={
                "test": [
                    Figure(
                        0.50,
                        "the best of pair 6-grams, LSTM and Transformer, Roark et al. 2020: 50.0 to 53.1 (as quoted by "
                        "others; which is the LSTM's was not seen)",
                    )
                ]
            },
        )
    ],
    seeds=5,
)
