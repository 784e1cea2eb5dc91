"""Lines ↔ ids: reading corpora, learning vocabularies, encoding, and leaving out what cannot be used."""

from regard.text.corpus import Place, SentencePair, read_lines, read_pairs
from regard.text.encoded import EncodedPair, encode_pairs
from regard.text.filters import FilterReport, Filters
from regard.text.learn import KINDS, learn
from regard.text.links import GoldLinks, Link, Links, format_gold, format_pharaoh, parse_pharaoh
from regard.text.specials import BOS, EOS, PAD, SPECIALS, UNK
from regard.text.tokenizer import Tokenizer

__all__ = [
    "BOS",
    "EOS",
    "PAD",
    "SPECIALS",
    "UNK",
    "KINDS",
    "EncodedPair",
    "FilterReport",
    "Filters",
    "GoldLinks",
    "Link",
    "Links",
    "Place",
    "SentencePair",
    "Tokenizer",
    "encode_pairs",
    "format_gold",
    "format_pharaoh",
    "learn",
    "parse_pharaoh",
    "read_lines",
    "read_pairs",
]
