"""conv1d and its like: compiled as it stands, for models call nothing else."""
