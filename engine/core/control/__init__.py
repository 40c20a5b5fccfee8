"""Changes to the tables between two calls of the loop, in Python."""
