"""The grammar: phrase builders that emit both languages at once, from noun phrases up to sentences."""
