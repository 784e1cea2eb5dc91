"""The one object that command line, notebooks and services share: lines in, `Translation`s out."""

from regard.translator.searching import Sampling
from regard.translator.translator import Translator
from regard.translator.wish import Wish, read_wishes

__all__ = ["Sampling", "Translator", "Wish", "read_wishes"]
