"""Reports: frozen records of a study turned into scores, text and one-file HTML."""
