"""Heat maps of real sentences: train RNNsearch on a parallel corpus, translate a few sentences, plot the attention.

The figure has the form of Bahdanau et al. 2015, Figure 3: source words along the top, the words of the model's own
translation down the side, and the grey of each cell is α_ij. The corpus is four files in one folder,
train.en, train.fr, valid.en and valid.fr (plain, or as .gz, .xz or .bz2; names by --train, --valid, --source and
--target). A folder with a trained model is used as it is, so the figure can be plotted again.

    python examples/heatmaps.py --data FOLDER --minutes 4                                    # on a GPU
    python examples/heatmaps.py --data FOLDER --minutes 10 --units 96 --pairs 60000 --longest 12    # on a CPU
"""

import argparse
import re
import sys
from pathlib import Path

import regard
from regard.plots import HeatMap, draw_heatmaps, save
from regard.text.formats import read_file

SENTENCES = (
    "The agreement on the European Economic Area was signed in August 1992.",  # Bahdanau et al. 2015, Figure 3
    "The Canadian government has a new economic policy.",
    "We need a clear national policy on international trade.",
    "The committee studied the annual report of the federal government.",
)
ENDINGS = ("", ".xz", ".gz", ".bz2")


def split_words(line):
    """Lower case, with blanks around punctuation and after an elided article: "L'Union," becomes "l' union ,"."""
    return " ".join(re.findall(r"\w+['’]|\w+(?:-\w+)*|[^\w\s]", line.lower()))


def corpus_file(folder, name):
    """The file of this name, compressed or not."""
    for ending in ENDINGS:
        if (path := folder / (name + ending)).is_file():
            return path
    raise regard.RegardError(
        f"{folder / name}: no such file, nor with {', '.join(ENDINGS[1:])}; name the corpus with --data, --train, "
        "--valid, --source and --target"
    )


def read_corpus(folder, part, languages, longest):
    """The pairs of one part whose sides have 1 to `longest` words, without repetitions."""
    sides = [list(read_file(corpus_file(folder, f"{part}.{language}"))) for language in languages]
    if len(sides[0]) != len(sides[1]):
        raise regard.RegardError(
            f"{folder / part}: {len(sides[0])} lines of {languages[0]} and {len(sides[1])} of {languages[1]}; "
            "line i of one must be the translation of line i of the other"
        )
    pairs = dict.fromkeys(zip(*(map(split_words, side) for side in sides), strict=True))
    return [pair for pair in pairs if all(0 < len(side.split()) <= longest for side in pair)]


def train(options):
    """Train RNNsearch on words, as the paper does, at a fraction of its size."""
    languages = (options.source, options.target)
    pairs = read_corpus(options.data, options.train, languages, options.longest)
    valid = read_corpus(options.data, options.valid, languages, options.longest)
    n = options.units
    config = {
        "preset": "rnnsearch-small",
        "tokenizer": {
            "source": "word",
            "target": "word",
            "source_size": options.words,
            "target_size": options.words,
        },
        "model": {
            "tie": "target",
            "encoder": {"embedding_size": n, "state_size": n, "dropout": 0.2},
            "decoder": {
                "embedding_size": n,
                "state_size": 2 * n,
                "attention": {"size": n},
                "readout_size": n,
                "dropout": 0.2,
            },
        },
        "training": {
            "learning_rate": 0.002,
            "max_epochs": 0.0,
            "max_minutes": options.minutes,
            "batch_sentences": 128,
            "validation_sentences": 200,
        },
    }
    regard.train(options.model, pairs[: options.pairs or None], valid, config=config, options=options.set)


def plot(translator, sentences):
    """Translate each sentence with a beam of 5, and plot the attention of the translation's words."""
    maps = []
    for translation in translator.translate([split_words(sentence) for sentence in sentences], beam=5):
        words = translation.word_alpha
        maps.append(HeatMap(words.alpha, words.source_labels, words.target_labels))
        print(translation.text)
    return draw_heatmaps(maps)


def main(arguments=None):
    """Train if there is no model yet, then plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpus")
    parser.add_argument("--train", default="train", help="training files, without the language (%(default)s)")
    parser.add_argument("--valid", default="valid", help="validation files, in the same way (%(default)s)")
    parser.add_argument("--source", default="en", help="language of the source (%(default)s)")
    parser.add_argument("--target", default="fr", help="language of the target (%(default)s)")
    parser.add_argument("--model", type=Path, default=Path("runs/heatmaps"), help="its folder (%(default)s)")
    parser.add_argument("--figure", type=Path, default=Path("heatmaps.png"), help="to write (%(default)s)")
    parser.add_argument(
        "--sentence", action="append", help="to translate, instead of the script's own; repeatable"
    )
    parser.add_argument(
        "--longest", type=int, default=25, help="words of the longest training side (%(default)s)"
    )
    parser.add_argument(
        "--pairs", type=int, default=0, help="the most training pairs; 0 for all (%(default)s)"
    )
    parser.add_argument("--words", type=int, default=10_000, help="size of each vocabulary (%(default)s)")
    parser.add_argument("--units", type=int, default=256, help="of each layer; the decoder has twice as many")
    parser.add_argument("--minutes", type=float, default=10.0, help="of training (%(default)s)")
    parser.add_argument("--set", action="append", default=[], help="an option, as training.precision=bf16")
    options = parser.parse_args(arguments)
    try:
        if not options.model.exists():
            train(options)
        figure = plot(regard.Translator.load(options.model), options.sentence or SENTENCES)
        save(figure, options.figure)
    except regard.RegardError as error:
        sys.exit(f"error: {error}")
    print(f"wrote {options.figure}")


if __name__ == "__main__":
    main()
