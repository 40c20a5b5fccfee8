"""From the document to the tables of the event loop: who stands where, what everything costs, and what is carried."""
