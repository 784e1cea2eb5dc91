"""A translator's validation: see `tasks.writing`, with pairs to read from."""

from collections.abc import Iterator, Sequence

from regard.batches import Batch, in_order_of_length, pad_pairs
from regard.text import EncodedPair, SentencePair
from regard.training.tasks.writing import WritingValidation, validate_writing
from regard.translator import Translator


def validate(
    translator: Translator,
    pairs: Sequence[SentencePair],
    encoded: Sequence[EncodedPair],
    *,
    free_running: int,
    batch_sentences: int,
    batch_tokens: int,
) -> WritingValidation:
    """Validate a model; it is put into evaluation mode for the while.

    Args:
        translator: around the model in training.
        pairs: the validation pairs as text.
        encoded: the same pairs as ids.
        free_running: how many of them, from the first, to translate freely.
        batch_sentences: the most sentences in a batch.
        batch_tokens: the most tokens in a batch, of the longer side, padding counted.
    """

    def batches(members: Sequence[int]) -> Iterator[Batch]:
        lengths = [encoded[k].length for k in members]
        for indices in in_order_of_length(lengths, batch_sentences, batch_tokens):
            yield pad_pairs([encoded[members[k]] for k in indices]).to(translator.device)

    def write(members: Sequence[int]) -> list[str]:
        return [each.text for each in translator.translate([pairs[k].source for k in members], beam=1)]

    return validate_writing(
        translator.model,
        translator.target_tokenizer,
        batches=batches,
        write=write,
        references=[pair.target for pair in pairs],
        wanted=[pair.target_ids for pair in encoded],
        free_running=free_running,
    )
