"""What is made of the lab's records: reports, comparisons, exports, citations, questions about many runs."""
