"""The lab's records (members, experiments, runs, data sets) and the operations on them."""
