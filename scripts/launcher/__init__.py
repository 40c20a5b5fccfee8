"""What scripts/up and scripts/test are made of. Standard library only: it runs before anything is installed."""
