"""Lines ↔ ids: reading corpora, learning vocabularies, encoding, and leaving out what cannot be used."""

from regard.text.features import CaptionedFeatures, as_numbers, read_captioned, read_features
from regard.text.labelled import (
    EncodedLabelled,
    LabelledText,
    Labels,
    encode_labelled,
    read_labelled,
    read_texts,
)
from regard.text.lines import MODES, EncodedLine, encode_lines, unknown_id, unknown_words
from regard.text.links import (
    GoldLinks,
    Link,
    Links,
    format_gold,
    format_pharaoh,
    parse_pharaoh,
    read_gold_links,
)
from regard.text.pairs import (
    EncodedPair,
    FilterReport,
    Filters,
    Place,
    SentencePair,
    encode_pairs,
    read_lines,
    read_pairs,
)
from regard.text.specials import BOS, EOS, PAD, SPECIALS, UNK
from regard.text.tagged import (
    EncodedTagged,
    TaggedSentence,
    encode_tagged,
    encode_words,
    read_tagged,
    read_vertical,
)
from regard.text.tokenizer import KINDS, Tokenizer, train_tokenizer

__all__ = [
    "BOS",
    "EOS",
    "PAD",
    "SPECIALS",
    "UNK",
    "KINDS",
    "MODES",
    "CaptionedFeatures",
    "EncodedLabelled",
    "EncodedLine",
    "EncodedPair",
    "EncodedTagged",
    "FilterReport",
    "Filters",
    "GoldLinks",
    "LabelledText",
    "Labels",
    "Link",
    "Links",
    "Place",
    "SentencePair",
    "TaggedSentence",
    "Tokenizer",
    "as_numbers",
    "encode_labelled",
    "encode_lines",
    "encode_pairs",
    "encode_tagged",
    "encode_words",
    "format_gold",
    "format_pharaoh",
    "train_tokenizer",
    "parse_pharaoh",
    "read_captioned",
    "read_features",
    "read_gold_links",
    "read_labelled",
    "read_lines",
    "read_pairs",
    "read_tagged",
    "read_texts",
    "read_vertical",
    "unknown_id",
    "unknown_words",
]
