"""What keeps an installation going: backups, and what goes from the disk after a while."""
