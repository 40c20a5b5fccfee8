"""Loss of the disk of a host, and so of its processes."""

from .host_loss import HostLossControl

control = HostLossControl
