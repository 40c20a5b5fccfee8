"""What policies decide follows from the answers that they were given, and from nothing else (docs/autoscaling.md, section 5).

What this catches: a policy that reads a clock, draws a number, reaches behind its metrics, or changes what it was given. That they import
nothing else is tested with the layers (`tests/test_layers.py`).
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.spec.experiment import scaling

from ...support.fluid_job import SESSIONS, FluidJob
from ...support.policies import POLICIES, policy_of
from ...support.recorded_policy import Recorder, assert_the_same_again

ABOUT: dict[str, scaling.looped.Looped] = {
    "dhalion": scaling.dhalion.Dhalion(),
    "ds2": scaling.ds2.DS2(),
    "hpa_cpu": scaling.hpa_cpu.HPACpu(),
    "hpa_varga": scaling.hpa_varga.HPAVarga(),
    "flink": scaling.flink.Flink(preset="tuned", window_s=60),
    "dhalion_heron": scaling.dhalion_heron.DhalionHeron(factor_max=0.5, cooldown_s=60),
    "ds2_original": scaling.ds2_original.DS2Original(),
    "hpa_k8s": scaling.hpa_k8s.HPAK8s(target=0.4),
    "varga_original": scaling.varga_original.VargaOriginal(),
}


@pytest.mark.parametrize("kind", POLICIES)
def test_a_policy_decides_the_same_when_it_is_told_the_same(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recorders: list[Recorder] = []

    def recording(about: Any) -> Recorder:
        recorders.append(Recorder(policy_of(about)))
        return recorders[-1]

    monkeypatch.setattr("tests.support.fluid_job.policy_of", recording)
    job = FluidJob(SESSIONS, 4, lambda now_s: 5e5 + 800 * now_s if now_s < 1500 else 1e6, sigma=0.06)
    loop = job.run(ABOUT[kind], 60 * 60)
    (recorder,) = recorders
    assert sum(isinstance(note[-1], tuple) for note in recorder.notes) == len(job.orders) >= 2
    assert len({json.dumps(decision.advice) for decision in loop.decisions}) > 2, "it has decided several things"
    assert_the_same_again(recorder, policy_of(ABOUT[kind]))
