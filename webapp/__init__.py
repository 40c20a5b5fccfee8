"""The web application: accounts, the lab's records, the HTTP API and the live stream. It never runs an engine."""
