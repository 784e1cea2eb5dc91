"""A metric of your own: the length ratio, the number of output words over the number of reference words."""

import tempfile

import regard
from regard.evaluation import METRICS, TextMetric
from regard.evaluation.metrics import format_score, hundredths


def length_ratio(hypotheses, references, options):
    """Below 1 the output is too short, as it was for the first encoder–decoders on long sentences."""
    return sum(len(line.split()) for line in hypotheses) / sum(len(line.split()) for line in references)


# the one line: from here on it is in every table, report and JSON file
METRICS["length_ratio"] = TextMetric("length ratio", hundredths, None, length_ratio, in_validation=True)


def main() -> None:
    """Train a translator on a toy and print its scores."""
    words = ["one", "two", "three", "four", "five", "six"]
    pairs = [(f"{a} {b}", f"{b} {a}".upper()) for a in words for b in words]
    config = {
        "tokenizer": {"source": "word", "target": "word"},
        "model": {
            "encoder": {"embedding_size": 16, "state_size": 16, "dropout": 0.0},
            "decoder": {
                "embedding_size": 16,
                "state_size": 16,
                "dropout": 0.0,
                "attention": {"size": 16},
                "readout_size": 16,
            },
        },
        "training": {
            "learning_rate": 0.02,
            "warmup": 0,
            "label_smoothing": 0.0,
            "max_epochs": 60,
            "validate_every": 30,
        },
    }
    with tempfile.TemporaryDirectory() as folder:
        regard.train(folder, pairs, pairs, config=config)
        translator = regard.Translator.load(folder)
        for translation in translator.translate(["one two", "five three"]):
            print(f"{translation.source} → {translation.text}")
        sources, references = zip(*pairs, strict=True)
        evaluation = regard.evaluate(translator, sources, references)
        for key, value in evaluation.scores().items():
            print(f"{METRICS[key].name:>24}  {format_score(key, value)}")


if __name__ == "__main__":
    main()
