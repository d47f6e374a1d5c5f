"""A plain grower written to be obviously right: it imports the standard library and nothing else."""
