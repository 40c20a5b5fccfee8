"""Lowers a document to the tables of the event loop: placement, costs, and the fields that records carry."""
