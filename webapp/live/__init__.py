"""The live stream of a run: written by its worker, read by browsers, replayable from any frame."""
