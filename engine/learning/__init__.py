"""Training of cost models on a corpus, and what they are worth beside simpler predictors (docs/learned-placement.md). Needs torch."""
