"""Ways in: frames, databases and folders of CSV files as tables with their keys and references."""
