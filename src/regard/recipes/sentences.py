"""Recipes for labels of sentences: sentiment, questions, subjectivity, inference."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from regard.config import merge
from regard.recipes.recipe import Arm, Corpus, Figure, Pretraining, Recipe, write_lines
from regard.recipes.splits import fold
from regard.tasks.spec import Preset
from regard.text.formats import read_file

_SPLIT_SEED = 1
_NUM_FOLDS = 10


def _sentences(path: Path) -> Iterator[tuple[str, str]]:
    """Labels and texts of a file with a space between them."""
    for line in read_file(path):
        label, _, text = line.partition(" ")
        yield label, text


def _phrases(path: Path) -> Iterator[tuple[str, str]]:
    """Labels and texts of a file with a tab between them."""
    for line in read_file(path):
        label, _, text = line.partition("\t")
        yield label, text


def _as_binary(examples: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The labels 0 and 1 as 0, and 3 and 4 as 1; what is neutral is left out."""
    for label, text in examples:
        if label != "2":
            yield ("1" if label in "34" else "0"), text


class _Sentiment:
    """The Stanford Sentiment Treebank: trained on all phrases of the training trees, scored on whole sentences.

    Args:
        classes: ``fine`` for five, ``binary`` for two.
    """

    def __init__(self, classes: str) -> None:
        self._classes = classes

    def __call__(self, data: Path, made: Path) -> Corpus:
        phrases = _phrases(data / "sst" / "phrases.fine.train.tsv.xz")
        if self._classes == "binary":
            phrases = _as_binary(phrases)

        def write(name: str, examples: Iterable[tuple[str, str]]) -> Path:
            return write_lines(made / f"{name}.tsv", (f"{label}\t{text}" for label, text in examples))

        valid, test = (
            write(part, _sentences(data / "sst" / f"stsa.{self._classes}.{part}.xz"))
            for part in ("dev", "test")
        )
        return Corpus([write("train", phrases)], [valid], {"test": [test]})


def _sentiment_text(data: Path, made: Path) -> Corpus:
    """The sentences of the training and validation sets, without their labels; WikiText-2 beside those of training."""
    train, valid = (
        [text for _, text in _sentences(data / "sst" / f"stsa.fine.{part}.xz")] for part in ("train", "dev")
    )
    for line in read_file(data / "wikitext-2" / "wiki.train.tokens.xz"):
        # a line is a paragraph; sentences end at a full stop, and headings are between equals signs
        if not line.strip().startswith("="):
            train += [f"{sentence.strip()} ." for sentence in line.split(" . ") if sentence.strip()]
    return Corpus([write_lines(made / "train.txt", train)], [write_lines(made / "dev.txt", valid)])


_SENTIMENT_LM = Pretraining(
    name="language-model",
    corpus=_sentiment_text,
    config={
        "preset": "lstm-lm",
        "tokenizer": {"text_size": 40_000, "lowercase": True},
        "model": {"embedding_size": 300, "state_size": 300, "dropout": 0.4},
        "training": {"batch_sentences": 64, "batch_tokens": 4000, "max_epochs": 8.0},
    },
)
_SENTIMENT: Preset = {
    "preset": "classifier-pretrained",
    "model": {"encoder": {"dropout": 0.5}, "dropout": 0.5},
    "training": {
        "learning_rate": 0.002,
        "max_epochs": 5.0,
        "validate_every": 500,
        "average_best": 3,
        "keep_best": 3,
    },
}

SST = Recipe(
    name="sst",
    title="Stanford Sentiment Treebank, five classes and two",
    conditions=(
        "accuracy on whole sentences; trained on the phrases of the training trees, lower-cased; the encoder starts "
        "from a language model of the training sentences and of WikiText-2; no outside vectors, which most published "
        "systems have"
    ),
    metric="accuracy",
    others=("macro_f1",),
    arms=[
        Arm(
            name=name,
            corpus=_Sentiment(classes),
            config=_SENTIMENT,
            pretraining=_SENTIMENT_LM,
            figures={"test": [Figure(accuracy, source)]},
        )
        for name, classes, accuracy, source in (
            (
                "five-classes",
                "fine",
                0.46,
                "to reach; 47.6 of an LSTMN with outside vectors, Cheng et al. 2016",
            ),
            (
                "two-classes",
                "binary",
                0.85,
                "to reach; 86.3 of an LSTMN with outside vectors, Cheng et al. 2016",
            ),
        )
    ],
    seeds=5,
)


class _CrossValidation:
    """Ten folds of one file; a label without a text is left out.

    Args:
        name: of the file, without its ending.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, data: Path, made: Path) -> list[Corpus]:
        path = data / "sentclass" / f"{self._name}.all.xz"
        lines = [f"{label} {text.strip()}" for label, text in _sentences(path) if text.strip()]
        folds = fold(lines, _NUM_FOLDS, seed=_SPLIT_SEED)
        corpora = []
        for k, held_out in enumerate(folds):
            rest = [line for other in folds if other is not held_out for line in other]
            train = write_lines(made / f"fold-{k + 1}.train.txt", rest)
            test = write_lines(made / f"fold-{k + 1}.test.txt", held_out)
            corpora.append(Corpus([train], [], {"test": [test]}))
        return corpora


def _trec(data: Path, made: Path) -> Corpus:
    del made
    train, test = (data / "sentclass" / f"TREC.{part}.all.xz" for part in ("train", "test"))
    return Corpus([train], [], {"test": [test]})


_CLASSIFIER: Preset = {
    "preset": "classifier",
    "data": {"separator": "space"},
    "tokenizer": {"lowercase": True},
    "model": {"encoder": {"dropout": 0.5}, "dropout": 0.5},
}
_SMOOTHED: Preset = {"training": {"label_smoothing": 0.1}}
_SUBWORDS = merge(
    _SMOOTHED,
    {"tokenizer": {"text": "bpe", "text_size": 4000}, "training": {"moving_average": 0.995}},
)

SENTENCE_CLASSES = Recipe(
    name="sentclass",
    title="Sentence classification: TREC, Subj, MR, CR, MPQA",
    conditions=(
        "accuracy; TREC on its own test set, the mean over seeds; the others by ten folds of a seeded order, one model "
        "each, as Kim 2014 with other folds; labels without a text are left out (4 of CR, 3 of MPQA); a tenth of the "
        "training sentences selects the checkpoint; subwords for MR and MPQA, label smoothing for these and TREC; no "
        "outside vectors"
    ),
    metric="accuracy",
    arms=[
        Arm(
            name=name,
            corpus=_trec if file == "TREC" else _CrossValidation(file),
            config=merge(_CLASSIFIER, change),
            evaluate=("--separator", "space"),
            figures={"test": [Figure(accuracy, "CNN without outside vectors, Kim 2014 (recalled)")]},
        )
        for name, file, accuracy, change in (
            ("trec", "TREC", 0.912, _SMOOTHED),
            ("subj", "subj", 0.896, {}),
            ("mr", "rt-polarity", 0.761, _SUBWORDS),
            ("cr", "custrev", 0.798, {}),
            ("mpqa", "mpqa", 0.834, _SUBWORDS),
        )
    ],
    seeds=_NUM_FOLDS,
)


def _sick(data: Path, made: Path) -> Corpus:
    del made
    train, valid, test = (data / "sick" / f"{part}.tsv.xz" for part in ("train", "trial", "test"))
    return Corpus([train], [valid], {"test": [test]})


_PAIRS: Preset = {
    "preset": "classifier",
    "data": {"columns": ["entailment_judgment", "sentence_A", "sentence_B"]},
    "tokenizer": {"lowercase": True},
    "model": {"num_texts": 2, "hidden_size": 128},
}

SICK = Recipe(
    name="sick",
    title="SICK, inference between two sentences: entailment, contradiction, neutral",
    conditions=(
        "accuracy on the 4,927 test pairs of SemEval 2014; trained on the 4,500 pairs alone, no outside vectors; the "
        "plain BiLSTM encodes each sentence by itself, the words of the LSTMN's two sentences attend to each other; "
        "both read in both directions"
    ),
    metric="accuracy",
    others=("macro_f1",),
    arms=[
        Arm(
            name=name,
            corpus=_sick,
            config=merge(_PAIRS, {"model": model}),
            evaluate=("--columns", "entailment_judgment", "sentence_A", "--second-column", "sentence_B"),
            figures={"test": [Figure(0.713, "LSTM trained on SICK alone, Bowman et al. 2015 (recalled)")]},
        )
        for name, model in (
            ("lstm", {}),
            ("lstmn-attention", {"between": "attention", "encoder": {"cell": "lstmn"}}),
        )
    ],
    seeds=5,
)
