"""Whether models share their vocabularies: what an ensemble and a mean of checkpoints need."""

from collections.abc import Mapping

from regard.errors import ConfigError
from regard.text.tokenizer import Tokenizer


def refuse_other_vocabularies(
    one: Mapping[str, Tokenizer], other: Mapping[str, Tokenizer], first: str, second: str
) -> None:
    """Raise where two models' tokenizers differ.

    Args:
        one: the first model's tokenizers, by name.
        other: the second's, of the same names.
        first: what the first is called in messages.
        second: what the second is called.

    Raises:
        ConfigError: they differ; the message says in what.
    """
    for name, tokenizer in one.items():
        if difference := tokenizer.difference(other[name]):
            raise ConfigError(
                f"{first} and {second}: their {name} tokenizers differ ({difference}); only models that share their "
                "vocabularies go together"
            )
