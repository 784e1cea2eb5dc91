"""Which languages write dates here, and the ways people have that the CLDR does not list.

Patterns are in the CLDR's own notation: y year, M month (MMM short, MMMM full), d day, E weekday (EEE short,
EEEE full), text in quotes. Data alone: how a pattern is written out is `forms`.
"""

PATTERNS: dict[str, tuple[str, ...]] = {
    "en_US": ("MMMM d y", "EEE, MMM d, y", "d MMM y", "MM/dd/y", "M-d-y"),
    "en_GB": ("EEE d MMM y", "EEEE d MMMM y", "d-MMM-y", "d/M/y"),
    "fr": ("EEE d MMM y", "'le' d MMMM y", "'le' EEEE d MMMM y", "d/M/y"),
    "de": ("EEE, d. MMM y", "d. MMM y", "EEEE, 'den' d. MMMM y", "d.M.y"),
    "es": ("EEEE d 'de' MMMM 'de' y", "d 'de' MMM 'de' y", "EEE d MMM y", "dd/MM/y", "d-M-y"),
    "it": ("EEE d MMM y", "d/M/y", "d-M-y"),
    "pt": ("EEE, d 'de' MMMM 'de' y", "d MMM y", "d/M/y"),
    "nl": ("EEE d MMM y", "d-M-y"),
    "sv": ("'den' d MMMM y", "EEE d MMM y", "d/M y"),
    "da": ("'den' d. MMMM y", "EEE d. MMM y", "d/M/y"),
    "nb": ("EEE d. MMM y", "d.M.y"),
    "fi": ("EEE d.M.y", "EEE d. MMMM y", "dd.MM.y"),
    "pl": ("d MMMM y 'r'.", "EEEE, d MMMM y 'r'.", "EEE, d MMM y", "dd.MM.y"),
    "cs": ("EEE d. M. y", "EEE d. MMMM y", "d.M.y"),
    "hu": ("y. MMM d., EEE", "y. M. d.", "y.MM.dd."),
    "ro": ("EEE, d MMM y", "d.M.y", "d/M/y"),
    "tr": ("d MMM y EEE", "dd.MM.y", "d/M/y"),
    "ru": ("d MMMM y", "d MMMM y 'года'", "EEE, d MMM y", "d.M.y"),
    "uk": ("d MMMM y", "d MMMM y 'року'", "EEE, d MMM y", "d.M.y"),
    "bg": ("d MMMM y", "EEE, d MMMM y", "dd.MM.y"),
    "el": ("EEE d MMM y", "EEEE, d MMMM y", "dd/MM/y"),
    "ja": ("y年MM月dd日", "y年M月d日(EEE)", "y.M.d", "y-MM-dd"),
    "zh": ("y年MM月dd日", "y年M月d日 EEE", "y-M-d", "y.MM.dd"),
    "ko": ("y년 M월 d일 (EEE)", "y.MM.dd", "y-MM-dd"),
    "hi": ("EEE, d MMM y", "d MMMM, y", "dd/MM/y", "dd-MM-y"),
    "ar": ("EEEE d MMMM y", "d MMMM، y", "dd/MM/y"),
    "he": ("d MMM y", "EEE, d בMMM y", "dd/MM/y"),
    "th": ("'วันที่' d MMMM y", "EEE d MMM y", "d MMMM y", "dd/MM/y"),
    "vi": ("'ngày' d 'tháng' M 'năm' y", "EEEE, 'ngày' d 'tháng' M 'năm' y", "dd/MM/y"),
    "id": ("EEE, d MMM y", "d MMMM y", "dd-MM-y"),
}
"""Each locale, with its patterns beside the CLDR's own."""

ORDINAL_PATTERNS: dict[str, tuple[str, ...]] = {
    "en_US": ("MMMM d, y", "MMM d, y", "EEEE, MMMM d, y", "d 'of' MMMM, y"),
    "en_GB": ("d MMMM y", "EEEE d MMMM y", "'the' d 'of' MMMM y"),
    "fr": ("d MMMM y", "'le' d MMMM y", "EEEE d MMMM y"),
    "it": ("d MMMM y", "EEEE d MMMM y"),
}
"""Patterns whose day is counted out, as in 5th; the CLDR's notation has no letter for that."""


def ordinal(locale: str, day: int) -> str:
    """Write the day of the month as it is counted out: 1st and 2nd, but only 1er and 1º."""
    if locale.startswith("en"):
        ending = "th" if 10 < day < 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
        return f"{day}{ending}"
    first = {"fr": "1er", "it": "1º"}[locale]
    return first if day == 1 else str(day)
