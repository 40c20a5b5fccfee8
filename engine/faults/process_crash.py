"""Crash of the processes of a host, whose disk survives."""

from .host_loss import HostLossControl

control = HostLossControl
