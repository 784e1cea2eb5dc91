"""What the experiments measure, as pure functions of numbers and tensors."""
