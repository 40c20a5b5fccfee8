"""What the price lists of this version of the engine hold. Runs that were charged other prices are other runs, even if nobody thought of a
new version (`engine.prices.version_of`)."""

CONTENTS = {
    "reference": "f8f08029",
    "checkmate_2024": "459cfe68",
    "klink_2020": "358e675e",
    "costream_2024": "bca01f60",
    "costream_2024_changed": "ba4c9ac1",
    "flink_2020": "737001ef",
    "storm_2020": "8b93d6fc",
    "spark_2020": "427458bd",
    "spark_structured": "3e25eaad",
    "s3j_2024": "ade4fbf4",
}
"""Digests of the price lists that belong to this version of the engine. A list of another package belongs to none."""
