"""Processor sharing (section 3.1), before and after the phases of an instant."""

from engine.core.layout import *


def count_work():
    """Section 3.1: count the work done since the last instant, and renew the quota at the end of its period."""
    spent = host[h, H_RATE] * (t - host[h, H_WORK_AT])
    host[h, H_WORK] += spent
    host[h, H_WORK_AT] = t
    host[h, H_QUOTA_LEFT] -= spent * host[h, H_RUNNING]
    if host[h, H_PERIOD] > 0 and t >= host[h, H_PERIOD_END]:
        host[h, H_QUOTA_LEFT] = host[h, H_QUOTA]
        host[h, H_PERIOD_END] = (t // host[h, H_PERIOD] + 1) * host[h, H_PERIOD]


def set_rate():
    """Section 3.1: set the rate that each thread in service gets until the next instant."""
    running = host[h, H_RUNNING]
    rate = 0
    if running == 0:
        host[h, H_WORK] = 0
    elif host[h, H_PERIOD] == 0 or host[h, H_QUOTA_LEFT] > 0:
        rate = host[h, H_UNITS] // running if running <= host[h, H_UNTAXED] else host[h, H_TAXED] // running
        if rate > UNIT:
            rate = UNIT
        elif rate < 1:
            rate = 1
    host[h, H_RATE] = rate
    if host[h, H_WORK] > REBASE:
        for n in range(running):
            tags[member + n, DUE_KEY] -= host[h, H_WORK]
        host[h, H_WORK] = 0
