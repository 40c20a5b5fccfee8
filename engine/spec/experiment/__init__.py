"""The experiment as models: query, cluster, workload, policies; how a document becomes one."""
