"""A language model generates a sentence word by word from p(y_t | y_{<t}); the product is its probability.

An LSTM language model, the author, is trained on half of the sentences of the language dataset and samples sentences at
several temperatures; a second one, the judge, with other initial weights and the other half, scores them. What decides:
whether the log-probabilities of the steps add up to the sentence's, whether first words are as frequent as p(y_1) says,
and whether diversity and the judge's perplexity rise with the temperature.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.config import Config
from regard.datasets import Language
from regard.evaluation.metrics import power_of_ten
from regard.lab.measures.samples import (
    chain_rule_error,
    compare_first_words,
    distinct_lines,
    distinct_ngrams,
    entropy,
    next_words,
    ngrams,
    sampling_tree,
    spearman,
    temperature_error,
)
from regard.lab.measures.statistics import Spread, average, spread_curve
from regard.lab.runner import (
    Bench,
    CaptionedFigure,
    Check,
    Experiment,
    Finding,
    Table,
    Verdict,
    read_registration,
    train_for,
)
from regard.plots.figures.bars import Measure, draw_bars
from regard.plots.figures.curves import Mark, Panel, draw_curves
from regard.plots.figures.sampling_tree import Branch, draw_sampling_tree
from regard.tasks.language_model.predictor import LanguageModel
from regard.tasks.language_model.result import Sample

_QUANTILE = 0.99
_SHOWN_STEPS = range(6, 10)
"""Steps, including EOS, of the sentence whose tree is shown: the first such sample is taken."""


@dataclass(frozen=True)
class SamplingSizes(Config):
    """The size of the experiment.

    Attributes:
        train: training sentences of each of the two models.
        test: held-out sentences, for the judge's perplexity on real text.
        state: units of both models, and of their embeddings.
        updates: of each model.
        samples: sentences sampled at each temperature.
        temperatures: ascending; 1 is among them.
        seeds: pairs of models.
    """

    train: int
    test: int
    state: int
    updates: int
    samples: int
    temperatures: tuple[float, ...]
    seeds: int


REGISTERED = read_registration(__file__, SamplingSizes.from_mapping)
BOUNDS = REGISTERED.bounds


def measure(bench: Bench, sizes: SamplingSizes) -> Finding:
    """Train both models with every seed, sample sentences with one, and score them with the other."""
    seeds = bench.seeds(sizes.seeds)
    folders = iter(
        bench.starmap(train_model, [(name, seed, sizes) for seed in seeds for name in ("author", "judge")])
    )
    pairs = [(LanguageModel.load(next(folders)), LanguageModel.load(next(folders))) for _ in seeds]
    bench.report("sampling")
    measured = [sample_and_score(*pair, seed, sizes) for pair, seed in zip(pairs, seeds, strict=True)]
    runs = [numbers for numbers, _ in measured]
    numbers: dict[str, Any] = {
        "seeds": seeds,
        "temperatures": list(sizes.temperatures),
        **average(runs),
        "first_words": runs[0]["first_words"],
        "runs": runs,
    }
    author, samples = pairs[0][0], measured[0][1]
    shown = next((each for each in samples[1.0] if len(each.steps) in _SHOWN_STEPS), samples[1.0][0])
    figures = make_figures(numbers, shown.text, sampling_tree(author, shown))
    remarks = write_remarks(numbers)
    if bench.text:
        remark, figure = _continue_text(author, bench)
        figures.insert(1, figure)
        remarks.append(remark)
    return Finding(numbers, verdict(numbers), figures, make_tables(samples), remarks)


def sample_and_score(
    author: LanguageModel, judge: LanguageModel, seed: int, sizes: SamplingSizes
) -> tuple[dict[str, Any], dict[float, list[Sample]]]:
    """The numbers of one pair of models, and the samples of the author by temperature."""
    splits = Language().splits(train=2 * sizes.train, valid=300, test=sizes.test, seed=seed)
    known = [example.source for example in splits.train[: sizes.train]]
    samples = {t: author.sample(count=sizes.samples, temperature=t, seed=seed) for t in sizes.temperatures}
    return {
        "real_perplexity": judge.perplexity([example.source for example in splits.test]).perplexity,
        "chain": chain_rule_error(author, samples[1.0]),
        "first_words": compare_first_words(author, samples[1.0], _QUANTILE),
        "law": temperature_error(author, sizes.temperatures),
        "heat": _by_temperature(author, judge, samples, known),
    }, samples


def train_model(bench: Bench, name: str, seed: int, sizes: SamplingSizes) -> Path:
    """Train the author on the first half of the sentences, or the judge on the second, from other weights."""
    splits = Language().splits(train=2 * sizes.train, valid=300, test=0, seed=seed)
    half = splits.train[: sizes.train] if name == "author" else splits.train[sizes.train :]
    config = {
        "preset": "lstm-lm",
        "model": {"embedding_size": sizes.state, "state_size": sizes.state, "dropout": 0.1},
        "training": train_for(sizes.updates, learning_rate=0.006, batch_sentences=64),
    }
    return bench.train(f"{name}-{seed}", config, half, splits.valid, seed=seed + 1000 * (name == "judge"))


def _by_temperature(
    author: LanguageModel, judge: LanguageModel, samples: dict[float, list[Sample]], known: Sequence[str]
) -> dict[str, list[float]]:
    """Diversity, perplexity and novelty of the samples, one number per temperature each."""
    texts = {t: [sample.text for sample in some if sample.text] for t, some in samples.items()}
    among = min(sum(len(ngrams(line, 3)) for line in lines) for lines in texts.values())
    known_lines, known_trigrams = set(known), {trigram for line in known for trigram in ngrams(line, 3)}
    table: dict[str, list[float]] = {}
    for t, lines in texts.items():
        counts = Counter(sample.tokens[0] for sample in samples[t])
        first = [word.sampling_probability for word in next_words(author, temperature=t)]
        for name, value in {
            "distinct_sentences": distinct_lines(lines),
            "distinct_trigrams": distinct_ngrams(lines, 3, among),
            "judge_perplexity": judge.perplexity(lines).perplexity,
            "read_before": sum(line in known_lines for line in lines) / len(lines),
            "known_trigrams": sum(known_trigrams.issuperset(ngrams(line, 3)) for line in lines) / len(lines),
            "first_word_entropy": entropy([count / len(samples[t]) for count in counts.values()]),
            "first_word_entropy_computed": entropy(first),
            "mean_length": sum(len(line.split()) for line in lines) / len(lines),
        }.items():
            table.setdefault(name, []).append(value)
    return table


def _continue_text(author: LanguageModel, bench: Bench) -> tuple[str, CaptionedFigure]:
    """Sample a continuation of the user's text."""
    prompt = " ".join(bench.text.split())
    [sample] = author.sample(prompt=prompt, seed=bench.seed)
    unknown = author.unknown_words(prompt)
    remark = f"After your words the model continued: “{sample.text}”."
    if unknown:
        remark += f" It does not know {', '.join(unknown)}, and reads each of them as one and the same word."
    return remark, CaptionedFigure(
        "text",
        "The same from your words on: what was sampled after them, black, with its alternatives.",
        draw_sampling_tree(sampling_tree(author, sample)),
    )


def verdict(numbers: Mapping[str, Any]) -> Verdict:
    """Two identities, which any working program passes, and three numbers per seed; see `EXPERIMENT.decides`."""
    runs, heat, temperatures = numbers["runs"], numbers["heat"], numbers["temperatures"]

    def rises(name: str) -> list[float]:
        return [spearman(temperatures, run["heat"][name]) for run in runs]

    chain = max(run["chain"]["greatest_difference"] for run in runs)
    first = [run["first_words"]["total_variation"] / run["first_words"]["bound"] for run in runs]
    cold, hot = (heat["judge_perplexity"][k] for k in (0, -1))
    return Verdict(
        [
            Check(
                "steps against the sentence’s score, greatest difference",
                chain,
                "at most",
                BOUNDS["chain_error"],
                " nats",
                control=True,
            ),
            Check.over_seeds(
                "sampled first words against p(y₁), total variation over what 99 of 100 true samples have at most",
                first,
                "at most",
                BOUNDS["first_words"],
            ),
            Check(
                "sampling distribution against p^{1/τ}, greatest difference",
                max(run["law"] for run in runs),
                "at most",
                BOUNDS["temperature_error"],
                control=True,
            ),
            Check.over_seeds(
                "different trigrams rise with τ, ρ",
                rises("distinct_trigrams"),
                "at least",
                BOUNDS["correlation"],
            ),
            Check.over_seeds(
                "the judge’s perplexity rises with τ, ρ",
                rises("judge_perplexity"),
                "at least",
                BOUNDS["correlation"],
            ),
        ],
        f"The steps add up to the sentence’s log-probability within {power_of_ten(chain)} nats; first words differ "
        f"from p(y₁) by {_mean_of(runs, 'total_variation'):.3f}, by chance alone they would by "
        f"{_mean_of(runs, 'by_chance'):.3f}. From τ = {temperatures[0]:g} to {temperatures[-1]:g} the share of "
        f"different trigrams goes from {100 * heat['distinct_trigrams'][0]:.0f} to "
        f"{100 * heat['distinct_trigrams'][-1]:.0f} % and the judge’s perplexity from {cold:.1f} to {hot:.1f}; on real "
        f"sentences it is {numbers['real_perplexity']:.1f} (means over {len(runs)} seeds).",
    )


def _mean_of(runs: Sequence[Mapping[str, Any]], name: str) -> float:
    return Spread.of(run["first_words"][name] for run in runs).mean


def make_figures(numbers: Mapping[str, Any], text: str, tree: Branch) -> list[CaptionedFigure]:
    """One sentence with its alternatives, the effect of the temperature, and first words.

    Args:
        numbers: of the experiment.
        text: the sentence.
        tree: its path, with alternatives.
    """
    chain, first = numbers["runs"][0]["chain"], numbers["first_words"]
    sampled = chain["sentences"] + chain["left_out"]
    columns = {"p(y₁), %": first["probability"], "share of the samples, %": first["share"]}
    ranging = (0.0, 115 * max(max(values) for values in columns.values()))
    bars = [Measure(label, [100 * p for p in values], ranging=ranging) for label, values in columns.items()]
    return [
        CaptionedFigure(
            "tree",
            f"“{text}” as it was sampled from the model, black, with the two most probable alternatives of each word "
            "and words that might have followed those; </s> is the end. The sentence’s probability is the product of "
            "the percentages along the black path, and another sample would have taken another path.",
            draw_sampling_tree(tree),
        ),
        CaptionedFigure(
            "temperature",
            f"Against the temperature τ, {sampled} sentences each, means over seeds with their 90 % interval: how "
            "many differ, how a second model scores them, "
            "how many are in the author’s training text, whole or in trigrams, and the entropy of the first word, "
            "sampled and computed from p^{1/τ}. Low temperatures are to the left: look whether the model repeats "
            "itself there in sentences with a low perplexity for the judge, and whether diversity comes with stranger "
            "ones.",
            draw_curves(_temperature_panels(numbers), columns=2),
        ),
        CaptionedFigure(
            "first-words",
            f"The twelve most probable first words: p(y₁) of the model, and their shares among {sampled} samples. The "
            "two columns should differ only by chance.",
            draw_bars(first["words"], bars),
        ),
    ]


def _temperature_panels(numbers: Mapping[str, Any]) -> list[Panel]:
    temperatures = numbers["temperatures"]

    def panel(title: str, y: str, names: dict[str, str], **options: Any) -> Panel:
        curves = []
        for name, label in names.items():
            rows = zip(*(run["heat"][name] for run in numbers["runs"]), strict=True)
            curves.append(spread_curve(label, temperatures, [Spread.of(values) for values in rows]))
        return Panel(curves, "temperature τ", y, title, **options)

    return [
        panel(
            "diversity",
            "share",
            {"distinct_sentences": "different sentences", "distinct_trigrams": "different trigrams"},
            y_range=(0.0, 1.0),
        ),
        panel(
            "perplexity",
            "perplexity",
            {"judge_perplexity": "perplexity for the judge"},
            y_scale="log",
            marks=(Mark(numbers["real_perplexity"], "of real sentences", "y"),),
        ),
        panel(
            "seen in the author’s training text",
            "share of sentences",
            {"known_trigrams": "made of known trigrams", "read_before": "seen as a whole"},
            y_range=(0.0, 1.0),
        ),
        panel(
            "entropy of the first word",
            "entropy, bits",
            {"first_word_entropy": "entropy, sampled", "first_word_entropy_computed": "entropy, computed"},
        ),
    ]


def make_tables(samples: Mapping[float, Sequence[Sample]]) -> list[Table]:
    """A few sentences of each temperature.

    Args:
        samples: by temperature.
    """
    rows = [[f"{t:g}", sample.text] for t, some in samples.items() for sample in some[:3]]
    caption = "The first three sentences at each temperature, all from the same seed."
    return [Table(caption, ["τ", "sentence"], rows)]


def write_remarks(numbers: Mapping[str, Any]) -> list[str]:
    """How close the samples come to real sentences, and how many are copied from the training text."""
    heat, left_out = numbers["heat"], numbers["chain"]["left_out"]
    at = numbers["temperatures"].index(1.0)
    higher = heat["judge_perplexity"][at] > numbers["real_perplexity"]
    return [
        f"At τ = 1 the judge’s perplexity of the samples is {heat['judge_perplexity'][at]:.1f} compared with "
        f"{numbers['real_perplexity']:.1f} on real sentences"
        f"{': the judge sees what the author has not learned' if higher else ''}. "
        f"{100 * heat['read_before'][at]:.1f} % of the samples are whole sentences of the author’s training text, and "
        f"{100 * heat['known_trigrams'][at]:.0f} % are made of trigrams that occur in it; there is no parser to test "
        "the grammar here, so this share replaces it. "
        + (
            f"{left_out:.0f} of the samples per seed were left out of the sum of steps: they had no end, or contained "
            "the mark for "
            "unknown words."
            if left_out
            else "No sample was left out of the sum of steps."
        )
    ]


EXPERIMENT = Experiment(
    name="sampling",
    title="A sentence grows",
    claim="A language model generates a sentence word by word from p(y_t | y_{<t}), and p(y) is the product of these.",
    source="Lingpeng Kong, Sequence to Sequence Model and Attention: “Sample a sentence from RNNLMs”",
    method=(
        "An LSTM language model is trained on one half of the sentences of the language dataset and samples sentences "
        "at six temperatures; a second, with other initial weights, is trained on the other half and scores them. The "
        "steps of each sample are added up and compared with the score of the whole sentence, computed at once; first "
        "words are counted and compared with p(y₁); the sampling distribution is compared with p^{1/τ} computed as it "
        "is written."
    ),
    decides=(
        f"The chain rule is an identity, so the difference may be what float32 leaves over a sentence, "
        f"{power_of_ten(BOUNDS['chain_error'])} nats, and in the same way {power_of_ten(BOUNDS['temperature_error'])} "
        "for the temperature; alone the two are no evidence for the claim. First words may differ from p(y₁) by no "
        "more than 99 of 100 true samples of as many words would. The temperature is ours, not the lecture’s: "
        "different trigrams and the judge’s perplexity must rise with it. A rank correlation of "
        f"{BOUNDS['correlation']:g} lets two neighbours of six change places, not more."
    ),
    measure=measure,
    usual=REGISTERED.usual,
    full=REGISTERED.full,
    registration=REGISTERED,
    seconds=240,
    text="a prompt to continue",
)
