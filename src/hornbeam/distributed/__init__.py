"""Past one machine: the same exact trees from scans that the workers of a cluster make."""
