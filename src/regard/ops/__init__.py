"""The equations: pure functions of tensors, without parameters or state. README.md says which lives where."""
