"""A task of your own: rating, a text in, a number out (regression with an encoder and a squared error).

In the package it would be one folder, `regard/tasks/rate/`, and one line in `TASKS`; here it is one file.
"""

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import torch
import typer
from torch import Tensor, nn

from regard.batches import Batch, TextBatch, batch_by_length, pad_texts
from regard.config import Config
from regard.models import ClassifierConfig, ClassifierNetwork
from regard.tasks import TASKS, TaskSpec
from regard.tasks.base import Prepared, Task, Validation, filter_by_length, train_text_tokenizer
from regard.tasks.config import RunConfig, TextTokenizerConfig
from regard.tasks.evaluation import EvaluationOptions, EvaluationReport, EvaluationRun, write_report_json
from regard.tasks.predictor import Predictor, predict_by_length, refuse_text
from regard.tasks.train_valid_split import split_train_valid
from regard.text import read_labelled
from regard.text.formats import STDIN, read_file

# config.py


@dataclass(frozen=True)
class RatedDataConfig(Config):
    """The files of rated texts, and their filter."""

    train: tuple[str, ...] = ()
    """One file with a number and a text per line, separated by a tab."""
    valid: tuple[str, ...] = ()
    """The validation file; without it, some texts are split off the training file."""
    max_length: int = 200
    """Training texts of more tokens are left out; a note says how many."""


@dataclass(frozen=True)
class RateRun(RunConfig):
    """A whole run of the task ``rate``."""

    task = "rate"

    data: RatedDataConfig = field(default_factory=RatedDataConfig)
    tokenizer: TextTokenizerConfig = field(default_factory=TextTokenizerConfig)
    model: ClassifierConfig = field(default_factory=ClassifierConfig)


def rater():
    """A small BiLSTM with the mean of its states."""
    return {
        "task": "rate",
        "model": {
            "encoder": {"embedding_size": 32, "state_size": 32, "dropout": 0.0},
            "pooling": "mean",
            "dropout": 0.0,
        },
        "training": {"learning_rate": 0.01, "max_epochs": 5.0},
    }


PRESETS = {"rater": rater}

# task.py


@dataclass(eq=False)
class RatedBatch(TextBatch, Batch):
    """Texts with their ratings (B,)."""

    ratings: Tensor

    def __post_init__(self) -> None:
        self.num_tokens = self.num_sentences = len(self.ratings)  # one prediction per text


@dataclass(frozen=True)
class EncodedRating:
    """A text as ids without special symbols, and its rating."""

    ids: list[int]
    rating: float

    @property
    def length(self) -> int:
        """In tokens, EOS counted."""
        return len(self.ids) + 1


def pad_rated(examples: Sequence[EncodedRating]) -> RatedBatch:
    """Pad rated texts."""
    texts = pad_texts([[example.ids] for example in examples])
    return RatedBatch(texts.ids, texts.masks, torch.tensor([example.rating for example in examples]))


class SquaredError(nn.Module):
    """A model with Σ (ŷ − y)² as its loss."""

    def __init__(self, model: ClassifierNetwork) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: RatedBatch) -> Tensor:
        """The loss of a batch, a sum over its texts."""
        return (self.model(batch).logits.squeeze(1).float() - batch.ratings).square().sum()


class RateTask(Task):
    """Rated texts, a tokenizer, an encoder with one number as its output."""

    name = "rate"
    examples = "texts"

    def __init__(self, config: RateRun, train=None, valid=None) -> None:
        rows = read_rated(config.data.train[0]) if train is None else list(train)
        if valid is None and config.data.valid:
            valid = read_rated(config.data.valid[0])
        notes: list[str] = []
        if valid is None:
            texts = [text for _, text in rows]
            rows, valid, note = split_train_valid(rows, texts, config.training.seed, what="texts")
            notes.append(note)
        tokenizer = train_text_tokenizer((text for _, text in rows), config.tokenizer)

        def encode(rated):
            return [EncodedRating(tokenizer.encode(text), float(rating)) for rating, text in rated]

        kept, left_out = filter_by_length(
            encode(rows), lambda example: len(example.ids), config.data.max_length, what="texts"
        )
        super().__init__(config, Prepared({"text": tokenizer}, kept, encode(valid), (*notes, *left_out)))

    @property
    def sizes(self):
        """The vocabulary, and one output."""
        return {"text": self.tokenizers["text"].size, "outputs": 1}

    def build(self) -> ClassifierNetwork:
        """Make the model."""
        self.model = ClassifierNetwork(self.config.model, *self.sizes.values())
        return self.model

    def objective(self) -> nn.Module:
        """The squared error."""
        return SquaredError(self.model)

    def batch(self, members: Sequence[int]) -> RatedBatch:
        """Some texts, padded."""
        return pad_rated([self.prepared.train[k] for k in members])

    @torch.inference_mode()
    def validate(self, device: torch.device) -> Validation:
        """The mean squared error."""
        valid, training = self.prepared.valid, self.config.training
        objective = SquaredError(self.model).eval()
        lengths = [example.length for example in valid]
        total = sum(
            float(objective(pad_rated([valid[k] for k in members]).to(device)))
            for members in batch_by_length(lengths, training.batch_sentences, training.batch_tokens)
        )
        objective.train()
        return Validation(total / len(valid), {})


def read_rated(path: str | Path) -> list[tuple[float, str]]:
    """Read a file with a number and a text per line."""
    return [(float(example.label), example.texts[0]) for example in read_labelled(path)]


# predictor.py


class Rater(Predictor):
    """A trained model of this task."""

    task = "rate"

    def __init__(self, model, tokenizer, **options) -> None:
        super().__init__(model, **options)
        self.tokenizer = tokenizer

    def rate(self, lines: Iterable[str]) -> list[float]:
        """One number per line; not a number for a blank one."""
        refuse_text(lines, "rate")
        encoded = self.tokenizer.encode_batch(list(lines))

        def predict(members: list[int]) -> list[float]:
            with torch.inference_mode():
                batch = pad_texts([[encoded[k]] for k in members]).to(self.device)
                return self.model(batch).logits.squeeze(1).tolist()

        return predict_by_length(
            predict,
            [len(ids) + 1 if ids else 0 for ids in encoded],
            [float("nan")] * len(encoded),
            batch_sentences=32,
            batch_tokens=4000,
        )


# evaluation.py


def evaluate_files(options: EvaluationOptions) -> EvaluationRun:
    """For ``regard evaluate``: a rater and a file of rated texts."""
    model = Rater.load(options.model, weights=options.weights, device=options.device)
    rows = read_rated(options.source)

    def run(counter) -> EvaluationReport:
        ratings = model.rate([text for _, text in rows])
        for _, text in rows:
            counter.count(len(text.split()))
        errors = [abs(rating - gold) for rating, (gold, _) in zip(ratings, rows, strict=True)]
        scores = {"mean_absolute_error": sum(errors) / len(rows), "num_sentences": len(rows)}

        def write(folder, context):
            return {"report": write_report_json(folder, context.report(scores))}

        return EvaluationReport(ratings, scores, scores, write)

    return EvaluationRun("rating", len(rows), run)


# the command, regard/cli/rate.py


def rate(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    file: Annotated[str, typer.Argument(help="A file to rate; - for standard input.")] = STDIN,
) -> None:
    """Rate lines of text: one number out for each line in."""
    for rating in Rater.load(model).rate(read_file(file)):
        print(f"{rating:.2f}")


# __init__.py

RATE = TaskSpec(
    name="rate",
    purpose="rating",
    example='(4.5, "a fine film")',
    default_preset="rater",
    config="my_task:RateRun",
    network="regard.models:ClassifierNetwork",
    sizes=("text", "outputs"),
    training="my_task:RateTask",
    prediction="my_task:Rater",
    preset_table="my_task:PRESETS",
    commands={"rate": "my_task:rate"},
    first_command="echo … | regard rate {folder}",
    evaluation="my_task",
)

TASKS["rate"] = RATE  # the one line: from here on it is a task like any other


def main() -> None:
    """Train, rate and evaluate through the command line."""
    from regard.cli.app import app

    stars = {"awful": 1, "weak": 2, "decent": 3, "good": 4, "superb": 5}
    rows = [(stars[a] + stars[b], f"{a} film and {b} cast") for a in stars for b in stars]
    with tempfile.TemporaryDirectory() as folder:
        data, model = f"{folder}/rated.tsv", f"{folder}/model"
        Path(data).write_text("".join(f"{rating}\t{text}\n" for rating, text in rows * 20))
        app(["train", model, "--task", "rate", "--train", data, "--valid", data], standalone_mode=False)
        Path(f"{folder}/new.txt").write_text("good film and superb cast\n")
        app(["rate", model, f"{folder}/new.txt"], standalone_mode=False)
        app(["evaluate", model, data], standalone_mode=False)


if __name__ == "__main__":
    main()
