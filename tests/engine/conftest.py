"""How thoroughly random cases are tried: `HYPOTHESIS_PROFILE=fast` for the quick part of the suite, `full` (the default) for all of it."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "full", max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], print_blob=True
)
settings.register_profile("fast", settings.get_profile("full"), max_examples=25, derandomize=True)
settings.register_profile("soak", settings.get_profile("full"), max_examples=4000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "full"))
