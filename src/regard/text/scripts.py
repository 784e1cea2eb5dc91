"""Scripts that are written without blanks between words: Chinese, Japanese, Thai, Lao, Khmer, Burmese, Tibetan.

In: text. Out: how much of it is in such a script. Korean and Vietnamese have blanks.
"""

import re

_UNSPACED = re.compile(
    "["
    "\u0e00-\u0eff"  # Thai, Lao
    "\u0f00-\u0fff"  # Tibetan
    "\u1000-\u109f"  # Burmese
    "\u1780-\u17ff"  # Khmer
    "\u2e80-\u2fdf"  # radicals
    "\u3000-\u312f"  # punctuation, kana, bopomofo
    "\u31f0-\u31ff\uff65-\uff9f"  # more kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Chinese characters
    "\U00020000-\U0003ffff"
    "]"
)


def share_unspaced(text: str) -> float:
    """The share of a text's characters, blanks not counted, whose script has no blanks between words."""
    return len(_UNSPACED.findall(text.replace("\u3000", " "))) / max(len("".join(text.split())), 1)
