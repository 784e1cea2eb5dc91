"""A shortlist for a model that has hardly learnt: of what stands opposite each word in the corpus, and beside that.

In: the setting's corpus and a model folder. Out: its shortlist, as long as `regard shortlist` would make it: so
many words a source word at most, and the most frequent ones. An attention that has learnt looks at the word it
translates and a little to both sides; here the corpus says where it would look.
"""

from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from benchmarks.settings import Setting
from regard.checkpoint import ModelFolder
from regard.inference.shortlist import Shortlist

PER_WORD, FREQUENT = 50, 200
"""As `train_shortlist` has them."""


def write_shortlist(setting: Setting, folder: Path) -> None:
    """Put a shortlist into a model folder."""
    tokenizers = ModelFolder(folder).load("last").tokenizers
    train, _ = setting.corpus.pairs()
    sources, targets = (
        tokenizers[side].encode_batch([pair[k] for pair in train])
        for k, side in enumerate(("source", "target"))
    )
    opposite: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for source_ids, target_ids in zip(sources, targets, strict=True):
        for i, word in enumerate(target_ids):
            middle = i * len(source_ids) // len(target_ids)
            for j in range(max(0, middle - 1), min(len(source_ids), middle + 2)):
                opposite[source_ids[j]][word] += 1
    size = tokenizers["source"].size
    own = [[word for word, _ in opposite[k].most_common(PER_WORD)] for k in range(size)]
    common = Counter(word for ids in targets for word in ids).most_common(FREQUENT)
    Shortlist(
        np.cumsum([0, *map(len, own)]),
        np.array([word for words in own for word in words]),
        np.sort(np.array([word for word, _ in common])),
        tokenizers["target"].size,
        {"pairs": len(train), "per_word": PER_WORD, "frequent": FREQUENT},
    ).save(folder)
