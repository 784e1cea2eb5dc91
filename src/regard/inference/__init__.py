"""What makes a trained model fast or better: packed weights with the fused step, shortlists, ensembles, averaging."""
