"""The lexicon: tables of both languages side by side, read once into entries with all their forms."""
