"""The live stream of a run: written by its worker, read by browsers, resumable from any frame."""
