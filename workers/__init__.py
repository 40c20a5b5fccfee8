"""The Celery workers, which take runs from the queue and execute them with the engine."""
