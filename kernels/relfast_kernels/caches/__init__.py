"""Files on disk that are run or decide scores (kernels, models, vectors): where, and when trusted."""
