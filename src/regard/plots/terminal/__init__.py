"""The same pictures in the terminal's letters and colours."""
