"""From kernel source to machine code: the decorator, the builder, libraries of kernels, and their cache."""
