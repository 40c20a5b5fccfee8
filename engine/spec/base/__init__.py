"""Building blocks of documents: models, units, problems, records, and the interface of operator kinds."""
