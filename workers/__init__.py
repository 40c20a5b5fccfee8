"""The Celery workers: they take runs from the queue and execute them with the engine."""
