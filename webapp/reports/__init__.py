"""Output from the lab's records: reports, comparisons, exports, citations, analyses over many runs."""
