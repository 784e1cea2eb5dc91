"""Training: from layers of options and a task's data to a model folder."""
