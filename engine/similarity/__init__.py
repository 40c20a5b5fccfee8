"""Balancing of worksets between the workers of a similarity join (docs/similarity.md). Each balancer has a file of its name, with
`plan(about, loads)`, which makes its moves."""
