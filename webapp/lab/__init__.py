"""The lab's records: people's roles, experiments, runs, data sets; and what may be done with them."""
