"""Parts of scripts/up and scripts/test. Standard library only, because they run before anything is installed."""
