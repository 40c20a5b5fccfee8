"""Logarithm, exponential, cosine, arc cosine, normal distribution and its quantile of arrays, from + - * / and square roots alone.

These operations give the same bits on every processor (IEEE 754); the functions of libm and of NumPy's vector loops do not. Errors are a
few units in the last place. Everything that influences records, order or cost uses these functions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # their sum is ln 2; k x LN2_HIGH is exact for |k| < 2^20
PER_LN2 = 1.4426950408889634
SQRT2 = 1.4142135623730951
TWO_PI = 6.283185307179586
SQRT_TWO_PI = 2.5066282746310002
HALF_PI_HIGH, HALF_PI_LOW = 1.5707963267948966, 6.123233995736766e-17  # their sum is pi / 2
# (arcsin(x) - x) / x up to x = 1/2, as a rational function of x x without its factor 1: Sun Microsystems' fdlibm, e_acos.c
ARC_ABOVE_0, ARC_ABOVE_1, ARC_ABOVE_2 = 1.66666666666666657415e-01, -3.25565818622400915405e-01, 2.01212532134862925881e-01
ARC_ABOVE_3, ARC_ABOVE_4, ARC_ABOVE_5 = -4.00555345006794114027e-02, 7.91534994289814532176e-04, 3.47933107596021167570e-05
ARC_BELOW_1, ARC_BELOW_2 = -2.40339491173441421878e00, 2.02094576023350569471e00
ARC_BELOW_3, ARC_BELOW_4 = -6.88283971605453293030e-01, 7.70381505559019352791e-02
EXPONENT_BITS, EXPONENT_BIAS = 52, 1023
FRACTION = (1 << EXPONENT_BITS) - 1
EXP_MIN, EXP_MAX = -708.0, 709.0


def ln(x: Floats) -> Floats:
    """Natural logarithm of positive normal numbers. Shape (n,).

    x = 2^k m with m near 1; ln m = 2 artanh(s) with s = (m - 1) / (m + 1), by its series.
    """
    bits = x.view(np.int64)
    power = (bits >> EXPONENT_BITS) - EXPONENT_BIAS
    m = ((bits & FRACTION) | (EXPONENT_BIAS << EXPONENT_BITS)).view(np.float64)
    upper = m > SQRT2
    m = np.where(upper, m * 0.5, m)
    k = (power + upper).astype(np.float64)
    s = (m - 1.0) / (m + 1.0)
    square = s * s
    series = np.zeros_like(x)
    for odd in range(23, 1, -2):
        series = (series + 1.0 / odd) * square
    return k * LN2_HIGH + (k * LN2_LOW + 2.0 * (s + s * series))


def exp(x: Floats) -> Floats:
    """e to the x, for x from -708 to 709 (other values are clamped). Shape (n,).

    x = k ln 2 + r with |r| <= ln 2 / 2; e^r by its series.
    """
    x = np.minimum(np.maximum(x, EXP_MIN), EXP_MAX)
    k = np.floor(x * PER_LN2 + 0.5)
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    series = np.ones_like(x)
    for order in range(14, 0, -1):
        series = series * r / order + 1.0
    return series * ((k.astype(np.int64) + EXPONENT_BIAS) << EXPONENT_BITS).view(np.float64)


def cosine(turns: Floats) -> Floats:
    """cos(2 pi x turns). Shape (n,)."""
    turn = turns - np.floor(turns)
    turn = np.minimum(turn, 1.0 - turn)  # cos(-x) = cos(x)
    left = turn > 0.25
    turn = np.where(left, 0.5 - turn, turn)  # cos(pi - x) = -cos(x)
    square = (turn * turn) * (TWO_PI * TWO_PI)
    series = np.ones_like(turn)
    for order in range(22, 0, -2):
        series = 1.0 - series * square / (order * (order - 1))
    return np.where(left, -series, series)


def arccos(x: Floats) -> Floats:
    """The angles, from 0 to pi, whose cosines are x. Values beyond -1 and 1 count as these. Shape (n,).

    Near 0 by arcsin; beyond 1/2 by arccos(x) = 2 arcsin(sqrt((1 - x) / 2)).
    """
    x = np.clip(x, -1.0, 1.0)
    central = np.abs(x) < 0.5
    z = np.where(central, x * x, (1.0 - np.abs(x)) * 0.5)
    above = z * (ARC_ABOVE_0 + z * (ARC_ABOVE_1 + z * (ARC_ABOVE_2 + z * (ARC_ABOVE_3 + z * (ARC_ABOVE_4 + z * ARC_ABOVE_5)))))
    ratio = above / (1.0 + z * (ARC_BELOW_1 + z * (ARC_BELOW_2 + z * (ARC_BELOW_3 + z * ARC_BELOW_4))))
    root = np.sqrt(z)
    right = 2.0 * (root + root * ratio)
    left = 2.0 * (HALF_PI_HIGH - (root + (root * ratio - HALF_PI_LOW)))
    middle = HALF_PI_HIGH - (x - (HALF_PI_LOW - x * ratio))
    return np.where(central, middle, np.where(x < 0.0, left, right))


# Rational approximations on three ranges; numerator and denominator, from the constant term on.
CENTRE = (
    (
        *(3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4),
        *(4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3),
    ),
    (
        *(1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3),
        *(2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3),
    ),
)
SIDE = (
    (
        *(1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0),
        *(1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4),
    ),
    (
        *(1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1),
        *(1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9),
    ),
)
TAIL = (
    (
        *(6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1),
        *(2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7),
    ),
    (
        *(1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2),
        *(7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15),
    ),
)


def normal_quantile(share: Floats) -> Floats:
    """The quantile of the standard normal distribution at `share`, 0 < share < 1. Shape (n,).

    Source: Wichura 1988, algorithm AS 241 (PPND16), Applied Statistics 37(3).
    """
    distance = share - 0.5
    small = 0.180625 - distance * distance
    centre = distance * _ratio(CENTRE, small)
    outer = np.flatnonzero(small < 0)
    if len(outer):
        nearer_end = np.where(distance[outer] < 0, share[outer], 1.0 - share[outer])
        root = np.sqrt(-ln(nearer_end))
        size = np.where(root <= 5.0, _ratio(SIDE, root - 1.6), _ratio(TAIL, root - 5.0))
        centre[outer] = np.where(distance[outer] < 0, -size, size)
    return centre


def normal_cdf(x: Floats) -> Floats:
    """The share of the standard normal distribution below `x`, with an error below 1e-13. Shape (n,).

    Up to 5 by the series of Phi(x) - 1/2; beyond by the continued fraction of Mills' ratio (Abramowitz and Stegun, 26.2.11 and 26.2.14).
    """
    size = np.minimum(np.abs(x), 37.0)  # beyond, the density is below the smallest normal number
    density = exp(-0.5 * size * size) / SQRT_TWO_PI
    inner = np.minimum(size, 5.0)
    square = inner * inner
    series = np.ones_like(x)
    for n in range(90, 0, -1):
        series = series * square / (2 * n + 1) + 1.0
    outer = np.maximum(size, 5.0)
    fraction = outer.copy()
    for n in range(60, 0, -1):
        fraction = outer + n / fraction
    beyond = np.where(size <= 5.0, 0.5 - density * inner * series, density / fraction)
    return np.where(x < 0, beyond, 1.0 - beyond)


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: Floats) -> Floats:
    above, below = (_polynomial(each, x) for each in coefficients)
    return above / below


def _polynomial(coefficients: tuple[float, ...], x: Floats) -> Floats:
    value = np.full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        value = value * x + coefficient
    return value
