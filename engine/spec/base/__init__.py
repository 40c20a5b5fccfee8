"""What every part of a document is made of: models, units, problems, records, and the operator kind's contract."""
