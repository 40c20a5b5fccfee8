"""Models of the experiment (query, cluster, workload, policies) and how a document is read into them."""
