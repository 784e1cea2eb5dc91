"""Parts shared by the recurrences that run as Triton kernels."""
