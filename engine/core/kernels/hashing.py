"""Hashes of keys: the key group of a record, and the base of every other hash of the engine."""

from engine.core.layout import *


def mix64(x):
    """Finaliser of splitmix64 on a 64-bit word, in signed arithmetic that wraps."""
    x = (x ^ ((x >> 30) & 0x3FFFFFFFF)) * -4658895280553007687
    x = (x ^ ((x >> 27) & 0x1FFFFFFFFF)) * -7723592293110705685
    return x ^ ((x >> 31) & 0x1FFFFFFFF)


def group_of(key, scheme, groups):
    """Key group of a key: mix64(key) mod groups on the unsigned word, or key mod groups."""
    if scheme == SCHEME_MODULO:
        return key % groups
    z = mix64(key)
    if groups & (groups - 1) == 0:
        return z & (groups - 1)
    return (((z >> 1) & 0x7FFFFFFFFFFFFFFF) % groups * 2 + (z & 1)) % groups
