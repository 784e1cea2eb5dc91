"""What makes a trained model quick: packed weights, the fused step, shortlists, ensembles, averaging."""
