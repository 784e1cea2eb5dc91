"""Trains a model and translates with it through the public API of one checkout of Regard, and prints the times.

In: a JSON object on standard input: the checkout, the configuration, the options, the corpus and the sizes. Out: one
line of JSON on standard output. `versus` runs this file as a script with the checkout's ``src`` on the path. It uses
only what all versions have: `regard.train`, `regard.Translator` and torch's optimizer hook.
"""

import json
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any


def main() -> None:
    """Read the job from standard input, measure, print."""
    job = json.load(sys.stdin)
    print(json.dumps(measure(**job)))


def measure(
    checkout: str,
    config: dict[str, Any],
    options: list[str],
    corpus: str,
    warmup: int,
    search: dict[str, int],
    threads: int,
) -> dict[str, Any]:
    """Train and translate.

    Args:
        checkout: the root whose ``src`` must be the one imported.
        config: as in a configuration file.
        options: single options, such as ``training.clip=5``.
        corpus: a folder with ``train.source``, ``train.target``, ``valid.source``, ``valid.target``.
        warmup: the number of updates that are not timed.
        search: ``beam``, ``batch``, ``batches``, ``single`` (sentences translated one at a time), ``min_length``.
        threads: the number of threads.

    Returns:
        Seconds of each update, of each batch searched and of each single sentence, and the translations.

    Raises:
        ImportError: the package was imported from elsewhere.
    """
    import regard  # before torch, as on the command line: it sets how threads wait

    if not Path(regard.__file__).resolve().is_relative_to(Path(checkout).resolve() / "src"):
        raise ImportError(f"regard was imported from {regard.__file__}, not from {checkout}/src")
    import torch
    from torch.optim.optimizer import register_optimizer_step_post_hook

    torch.set_num_threads(threads)
    train, valid = (read_pairs(Path(corpus), split) for split in ("train", "valid"))
    times: list[float] = []
    hook = register_optimizer_step_post_hook(lambda *_: times.append(time.perf_counter()))
    with tempfile.TemporaryDirectory() as temporary:
        model = Path(temporary) / "model"
        regard.train(model, train, valid[:20], config=config, options=options)
        hook.remove()
        translator = regard.Translator.load(model, weights="last")
    batch, beam, length = search["batch"], search["beam"], search["min_length"]
    lines = [source for source, _ in train if len(source.split()) == length]
    needed = batch * (search["batches"] + 1)
    if len(lines) < needed:
        raise ValueError(f"{len(lines)} sources of {length} words; {needed} are needed")

    def translate(sources: list[str]) -> tuple[float, list[str]]:
        started = time.perf_counter()
        translations = translator.translate(sources, beam=beam, min_length=length, batch_sentences=batch)
        return time.perf_counter() - started, [translation.text for translation in translations]

    translate(lines[:batch])
    batches = [translate(lines[k * batch : (k + 1) * batch]) for k in range(1, search["batches"] + 1)]
    single = [translate([line]) for line in lines[: search["single"]]]
    return {
        "update_seconds": [after - before for before, after in pairwise(times[warmup:])],
        "batch_seconds": [seconds for seconds, _ in batches],
        "single_seconds": [seconds for seconds, _ in single],
        "translations": [text for _, texts in (*batches, *single) for text in texts],
    }


def read_pairs(corpus: Path, split: str) -> list[tuple[str, str]]:
    """The sentence pairs of a split."""
    source, target = (
        (corpus / f"{split}.{side}").read_text(encoding="utf-8").splitlines() for side in ("source", "target")
    )
    return list(zip(source, target, strict=True))


if __name__ == "__main__":
    main()
