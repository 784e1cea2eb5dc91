"""The figures, the table and the remark of the experiment on sampling.

In: its numbers, a sample with its tree, and the samples themselves. Out: drawings with captions, a table, a remark.
Nothing is measured here.

Claim: a sentence grows from p(y_t | y_<t), word by word; their product is its probability.

An LSTM language model is trained on half of the language world's sentences and makes up sentences at several
temperatures; a second one, of other weights and the other half, judges them. Decides: whether the log-probabilities of
the steps add up to the sentence's, whether first words come as often as p(y_1) says, and whether diversity and the
judge's perplexity rise with the temperature.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regard.datasets import Language
from regard.evaluation.metrics import power_of_ten
from regard.lab.measures.samples import (
    distinct_lines,
    distinct_ngrams,
    entropy,
    first_words,
    miss_of_the_chain,
    miss_of_the_temperature,
    next_words,
    ngrams,
    spearman,
    tree_of,
)
from regard.lab.runner import Bench, Check, Drawing, Experiment, Finding, Grid, Verdict
from regard.plots.figures.bars import Measure, draw_bars
from regard.plots.figures.curves import Curve, Mark, Panel, draw_curves
from regard.plots.figures.sampling_tree import Branch, draw_sampling_tree
from regard.tasks.language_model.predictor import LanguageModel
from regard.tasks.language_model.result import Sample


def draw_sampling(numbers: Mapping[str, Any], text: str, tree: Branch) -> list[Drawing]:
    """One sentence with its rivals, what the temperature does, and first words.

    Args:
        numbers: of the experiment.
        text: the sentence.
        tree: the way it took, and others it might have taken.
    """
    drawn, first = numbers["chain"]["sentences"] + numbers["chain"]["left_out"], numbers["first_words"]
    return [
        Drawing(
            "tree",
            f"“{text}” as it was drawn from the model, black, with the two likeliest rivals of each word "
            "and what might have followed those; </s> is the end. The sentence’s probability is the product of the "
            "percentages along the black way, and another draw would have taken another way.",
            draw_sampling_tree(tree),
        ),
        Drawing(
            "temperature",
            f"Against the temperature τ, {drawn} sentences each: how many differ, what a second model thinks "
            "of them, how many the author has read, whole or in runs of three words, and the entropy of the first "
            "word, drawn and computed from p^{1/τ}. Cold is to the left: look whether the model repeats "
            "itself there in sentences the judge finds easy, and whether new things are bought with stranger ones.",
            draw_curves(_heat_panels(numbers), columns=2),
        ),
        Drawing(
            "first-words",
            f"The twelve likeliest first words: p(y₁) as the model has it, and their shares among {drawn} "
            "samples. Nothing but chance should part the two columns.",
            draw_bars(first["words"], _first_words(first)),
        ),
    ]


def _heat_panels(numbers: Mapping[str, Any]) -> list[Panel]:
    heat, along, x = numbers["heat"], numbers["temperatures"], "temperature τ"

    def panel(title: str, y: str, names: dict[str, str], **more: Any) -> Panel:
        curves = [Curve(label, along, heat[name]) for name, label in names.items()]
        return Panel(curves, x, y, title, **more)

    shares = {"y_range": (0.0, 1.0)}
    return [
        panel(
            "how much differs",
            "share",
            {"distinct_sentences": "different sentences", "distinct_trigrams": "different trigrams"},
            **shares,
        ),
        panel(
            "how likely it is",
            "perplexity",
            {"judge_perplexity": "perplexity for the judge"},
            y_scale="log",
            marks=(Mark(numbers["real_perplexity"], "of real sentences", "y"),),
        ),
        panel(
            "how much the author has read before",
            "share of sentences",
            {"known_trigrams": "made of known trigrams", "read_before": "read before"},
            **shares,
        ),
        panel(
            "how open the first word is",
            "entropy, bits",
            {"first_word_entropy": "entropy, drawn", "first_word_entropy_computed": "entropy, computed"},
        ),
    ]


def _first_words(first: Mapping[str, Any]) -> list[Measure]:
    columns = {"p(y₁), %": first["probability"], "share of the samples, %": first["share"]}
    room = (0.0, 115 * max(max(values) for values in columns.values()))
    return [Measure(label, [100 * p for p in values], ranging=room) for label, values in columns.items()]


def tabulate_sampling(samples: Mapping[float, Sequence[Sample]]) -> list[Grid]:
    """A few sentences of each temperature.

    Args:
        samples: by temperature.
    """
    rows = [[f"{t:g}", sample.text] for t, some in samples.items() for sample in some[:3]]
    caption = "The first three sentences at each temperature, all from the same seed."
    return [Grid(caption, ["τ", "sentence"], rows)]


def remark_sampling(numbers: Mapping[str, Any]) -> list[str]:
    """How near the author comes to real sentences, and what it has by heart."""
    heat, left = numbers["heat"], numbers["chain"]["left_out"]
    at = numbers["temperatures"].index(1.0)
    seen = heat["judge_perplexity"][at] > numbers["real_perplexity"]
    return [
        f"At τ = 1 the judge’s perplexity of the samples is {heat['judge_perplexity'][at]:.1f} against "
        f"{numbers['real_perplexity']:.1f} of real sentences"
        f"{': what the author has not learnt, the judge sees' if seen else ''}. "
        f"{100 * heat['read_before'][at]:.1f} % of the samples stand in the author’s training text as they are, and "
        f"{100 * heat['known_trigrams'][at]:.0f} % are made of trigrams that stand in it; no parser judges "
        "grammar here, so this share stands in for it. "
        + (
            f"{left} of the samples were left out of the sum of steps: they had no end, or held the mark for unknown "
            "words."
            if left
            else "No sample was left out of the sum of steps."
        )
    ]


_DRIFT = 1e-4
"""Nats by which the steps may miss the sentence: they are computed one by one, it at once, both in float32."""
_LAW = 1e-6
_RISING = 0.9
"""Spearman's ρ; of six temperatures two neighbours may change places (ρ = 0.94), no more."""
_SURE = 0.99
_SHOWN = range(6, 10)
"""Of how many steps, the end mark counted, the sentence is whose tree is drawn: the first such sample is taken."""


@dataclass(frozen=True)
class Sizes:
    """How much is done.

    Attributes:
        train: sentences for each of the two models.
        test: held-out sentences that tell the judge's perplexity of real text.
        state: units of both models, and of their embeddings.
        updates: of each model.
        samples: sentences made up at each temperature.
        temperatures: from cold to hot; 1 is among them.
    """

    train: int
    test: int
    state: int
    updates: int
    samples: int
    temperatures: tuple[float, ...] = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5)


USUAL = Sizes(train=30_000, test=500, state=128, updates=1300, samples=600)
FULL = Sizes(train=60_000, test=1000, state=200, updates=6000, samples=4000)


def run(bench: Bench) -> Finding:
    """Do it at the usual size, or at the full one."""
    return find(bench, bench.choose(USUAL, FULL))


def find(bench: Bench, sizes: Sizes) -> Finding:
    """Train both models, make up sentences, judge them, and draw."""
    splits = Language().splits(train=2 * sizes.train, valid=300, test=sizes.test, seed=bench.seed)
    known = [example.source for example in splits.train[: sizes.train]]
    author, judge = (
        LanguageModel.load(path) for path in bench.each(_train, [("author", sizes), ("judge", sizes)])
    )
    bench.voice("sampling")
    samples = {
        t: author.sample(count=sizes.samples, temperature=t, seed=bench.seed) for t in sizes.temperatures
    }
    numbers: dict[str, Any] = {
        "seed": bench.seed,
        "temperatures": list(sizes.temperatures),
        "real_perplexity": judge.perplexity([example.source for example in splits.test]).perplexity,
        "chain": miss_of_the_chain(author, samples[1.0]),
        "first_words": first_words(author, samples[1.0], _SURE),
        "law": miss_of_the_temperature(author, sizes.temperatures),
        "heat": _heat(author, judge, samples, known),
    }
    shown = next((one for one in samples[1.0] if len(one.steps) in _SHOWN), samples[1.0][0])
    drawings, remarks = draw_sampling(numbers, shown.text, tree_of(author, shown)), remark_sampling(numbers)
    if bench.text:
        told, drawn = _of_the_user(author, bench)
        drawings.insert(1, drawn)
        remarks.append(told)
    return Finding(numbers, verdict(numbers), drawings, tabulate_sampling(samples), remarks)


def _train(bench: Bench, arm: tuple[str, Sizes]) -> Any:
    """Train the author on the first half of the sentences, or the judge on the second, from other weights."""
    name, sizes = arm
    splits = Language().splits(train=2 * sizes.train, valid=300, test=0, seed=bench.seed)
    half = splits.train[: sizes.train] if name == "author" else splits.train[sizes.train :]
    config = {
        "preset": "lstm-lm",
        "model": {"embedding_size": sizes.state, "state_size": sizes.state, "dropout": 0.1},
        "training": {
            "learning_rate": 0.006,
            "batch_sentences": 64,
            "max_epochs": 0,
            "max_updates": sizes.updates,
            "validate_every": sizes.updates,
        },
    }
    return bench.train(name, config, half, splits.valid, seed=bench.seed + (name == "judge"))


def _heat(
    author: LanguageModel, judge: LanguageModel, samples: dict[float, list[Sample]], known: Sequence[str]
) -> dict[str, list[float]]:
    """What the temperature does, one number each."""
    lines = {t: [sample.text for sample in some if sample.text] for t, some in samples.items()}
    among = min(sum(len(ngrams(line, 3)) for line in some) for some in lines.values())
    read, read_threes = set(known), {three for line in known for three in ngrams(line, 3)}
    found: dict[str, list[float]] = {}
    for t, some in lines.items():
        counts = Counter(sample.tokens[0] for sample in samples[t])
        first = [one.sampling_probability for one in next_words(author, temperature=t)]
        for name, value in (
            ("distinct_sentences", distinct_lines(some)),
            ("distinct_trigrams", distinct_ngrams(some, 3, among)),
            ("judge_perplexity", judge.perplexity(some).perplexity),
            ("read_before", sum(line in read for line in some) / len(some)),
            ("known_trigrams", sum(read_threes.issuperset(ngrams(line, 3)) for line in some) / len(some)),
            ("first_word_entropy", entropy([count / len(samples[t]) for count in counts.values()])),
            ("first_word_entropy_computed", entropy(first)),
            ("mean_length", sum(len(line.split()) for line in some) / len(some)),
        ):
            found.setdefault(name, []).append(value)
    return found


def verdict(numbers: dict[str, Any]) -> Verdict:
    """Two identities, which any working program passes, and three numbers; see `EXPERIMENT.decides`."""
    heat, first, temperatures = numbers["heat"], numbers["first_words"], numbers["temperatures"]
    rises = {name: spearman(temperatures, heat[name]) for name in ("distinct_trigrams", "judge_perplexity")}
    cold, hot = (heat["judge_perplexity"][k] for k in (0, -1))
    apart = power_of_ten(numbers["chain"]["greatest_difference"])
    return Verdict(
        [
            Check(
                "steps against the sentence’s score, greatest difference",
                numbers["chain"]["greatest_difference"],
                "at most",
                _DRIFT,
                " nats",
                control=True,
            ),
            Check(
                "first words drawn against p(y₁), total variation",
                first["total_variation"],
                "at most",
                first["bound"],
            ),
            Check(
                "drawn from against p^{1/τ}, greatest difference",
                numbers["law"],
                "at most",
                _LAW,
                control=True,
            ),
            Check("different trigrams rise with τ, ρ", rises["distinct_trigrams"], "at least", _RISING),
            Check("the judge’s perplexity rises with τ, ρ", rises["judge_perplexity"], "at least", _RISING),
        ],
        f"The steps add up to the sentence’s log-probability within {apart} nats; first words miss p(y₁) "
        f"by {first['total_variation']:.3f}, where chance alone misses it by {first['by_chance']:.3f}. From "
        f"τ = {temperatures[0]:g} to {temperatures[-1]:g} the share of different trigrams goes "
        f"from {100 * heat['distinct_trigrams'][0]:.0f} to {100 * heat['distinct_trigrams'][-1]:.0f} % "
        f"and the judge’s perplexity from {cold:.1f} to {hot:.1f}; of real sentences it is "
        f"{numbers['real_perplexity']:.1f}.",
    )


def _of_the_user(author: LanguageModel, bench: Bench) -> tuple[str, Drawing]:
    """Go on from the user's text."""
    prompt = " ".join(bench.text.split())
    [one] = author.sample(prompt=prompt, seed=bench.seed)
    unknown = author.unknown_words(prompt)
    told = f"After your words the model went on: “{one.text}”."
    if unknown:
        told += f" It does not know {', '.join(unknown)}, and reads each of them as one and the same word."
    return told, Drawing(
        "text",
        "The same from your words on: what was drawn after them, black, with its rivals.",
        draw_sampling_tree(tree_of(author, one)),
    )


EXPERIMENT = Experiment(
    name="sampling",
    title="A sentence grows",
    claim="A language model makes a sentence word by word from p(y_t | y_<t), and p(y) is the product of these.",
    source="Lingpeng Kong, Sequence to Sequence Model and Attention: “Sample a sentence from RNNLMs”",
    method=(
        "An LSTM language model learns from one half of the language world’s sentences and makes up sentences at six "
        "temperatures; a second, with other first weights, learns from the other half and judges them. The steps of "
        "each sample are added up and held against the score of the whole sentence, computed in one go; first words "
        "are counted and held against p(y₁); what is drawn from is held against p^{1/τ} computed plainly."
    ),
    decides=(
        "The chain rule is an identity, so the difference may be what float32 leaves over a sentence, 10⁻⁴ nats, and "
        "likewise 10⁻⁶ for the law of temperature; alone the two are no sign of the claim. First words may miss p(y₁) "
        "by no more than 99 of 100 honest drawings of as many words would. The temperature is ours, not the lecture’s: "
        "different trigrams and the judge’s perplexity must rise with it. A rank correlation of 0.9 lets two "
        "neighbours of six change places, not more."
    ),
    run=run,
    seconds=82,
    text="a beginning to go on from",
)
