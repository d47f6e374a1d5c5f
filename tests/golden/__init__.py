"""What Hornbeam answered before it was rebuilt: fits, texts and files, written down once and compared."""
