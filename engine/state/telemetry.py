"""What frames and the summary of a run say of its local stores, their changelogs and the broker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core import layout as L
from engine.core.world import World

from .recovery import Outage, Task
from .store import Store
from .stores import Stores


class StateWatch:
    """Reads the stores, at the moment at which they were sampled (`Stores.samples`)."""

    name = "state"

    def __init__(self, stores: Stores, world: World, hosts: Sequence[str]):
        """hosts: names of all."""
        self._stores, self._hosts, self._world = stores, hosts, world
        bounds = world.arrays.host[stores.hosts][:, [L.H_PROCESSOR, L.H_PROCESSOR_END]]
        self._cores = int((bounds[:, 1] - bounds[:, 0]).sum())

    def frame(self, from_ns: int, to_ns: int) -> dict[str, Any]:
        """written_bytes, appended, requests, passes: in the frame. Bytes and shares of logs, all of them together: at its end."""
        before, now = self._stores.samples
        spent = {name: now[name] - before[name] for name in now}
        logs = [task.store.log for task in self._stores.tasks]
        clean, dirty, whole = (sum(getattr(log, name) for log in logs) for name in ("clean_bytes", "dirty_bytes", "bytes"))
        return {
            "written_bytes": spent["written"],
            "appended": spent["appended"],
            "requests": spent["requests"],
            "passes": spent["passes"],
            "commits": spent["commits"],
            "since_commit_s": round((to_ns - self._stores.committed_ns) / 1e9, 6),
            "changelog_bytes": whole,
            "clean_bytes": clean,
            "dirty_bytes": dirty,
            "active_bytes": whole - clean - dirty,
            "dirty_ratio": round(max(log.dirty_share for log in logs), 6),
            **self._shares(spent, to_ns - max(from_ns, 0)),
            "limits": self._limits(),
            "settings": self._settings(),
            "cleaners": self._cleaners(),
            "stores": {task.name: _store(task) for task in self._stores.tasks},
            **self._recovering(from_ns, to_ns),
        }

    def _recovering(self, from_ns: int, to_ns: int) -> dict[str, Any]:
        """read_again: records that sources would read again if all hosts with stores crashed now. outages: those of which something has
        happened in the frame, up to its end."""
        recovery = self._stores.recovery
        return {
            "read_again": sum(recovery.read_again(self._world, host) for host in recovery.commits if not recovery.is_down(host)),
            "outages": [told(one, self._hosts, to_ns) for one in outages_between(recovery.outages, from_ns, to_ns)],
        }

    def summary(self, world: World, to_ns: int) -> dict[str, Any]:
        """Since the start of the run. stored: records of the changelogs at the end, of which `tombstones`. Largest and mean size of
        changelogs are of the ends of frames."""
        self._stores.catch_up(world, to_ns)
        now = self._stores.counts(world, to_ns)
        tasks = self._stores.tasks
        put_bytes = sum(task.store.tree.put_bytes for task in tasks)
        return {
            "written_bytes": now["written"],
            "appended": now["appended"],
            "requests": now["requests"],
            "passes": now["passes"],
            "commits": now["commits"],
            "commit_ms": round(self._stores.commit_ns / 1e6 / max(now["commits"], 1), 6),
            "absorbed": sum(task.store.cache.absorbed for task in tasks),
            "stalled_ms": round(sum(task.stalled_until_ns(to_ns) for task in tasks) / 1e6, 6),
            "changelog_bytes": sum(task.store.log.bytes for task in tasks),
            "changelog_bytes_max": self._stores.logged["max"],
            "changelog_bytes_mean": round(self._stores.logged["sum"] / max(self._stores.logged["count"], 1), 3),
            "stored": sum(task.store.log.count for task in tasks),
            "tombstones": sum(int(part.is_tombstone.sum()) for task in tasks for part in task.store.log.segments()),
            "write_amplification": round(now["written"] / put_bytes, 6) if put_bytes else 0.0,
            **self._shares(now, to_ns),
            **(self._restored(to_ns) if self._stores.about.restores_at_end else {}),
            **(recovered(self._stores.recovery.outages, to_ns) if self._stores.losses else {}),
            **self._tuned(),
        }

    def _tuned(self) -> dict[str, int]:
        """tuning_step: of the agent at the end. tuning_conflicts: looks at which a goal was missed while the broker had no CPU left."""
        tuner = self._stores.tuner
        if tuner is None:
            return {}
        return {"tuning_step": tuner.step, "tuning_conflicts": sum(verdict == "conflict" for _, verdict in tuner.verdicts)}

    def _restored(self, now_ns: int) -> dict[str, float]:
        """The longest restore of a store from its changelog alone, into an empty one. The stores of the run stay as they are."""
        found = []
        for task in self._stores.tasks:
            empty = Store(task.store.settings, task.store.log)
            empty.take_keys(task.store.keys)
            found.append(empty.restore(now_ns))
        longest = max(found, key=lambda restored: restored.took_ns)
        return {"restore_ms": round(longest.took_ns / 1e6, 6), "restore_records": longest.records}

    def _shares(self, spent: dict[str, int], span_ns: int) -> dict[str, float]:
        """Of the cores of the broker, and of the hosts with stores."""
        broker, about = self._stores.broker.settings, self._stores.about
        span_ns = max(span_ns, 1)
        return {
            "broker_busy": round(broker.base_share + spent["broker_ns"] / (broker.cores * span_ns), 6),
            "worker_busy": round(about.costs.base_share + spent["worker_ns"] / (self._cores * span_ns), 6),
        }

    def _limits(self) -> dict[str, float | None]:
        """When entries leave a cache, when a buffer is flushed, and when a log is cleaned: None if never."""
        store = self._stores.tasks[0].store
        return {
            "dirty": store.cache.settings.batch,
            "buffer_bytes": store.settings.tree.buffer_bytes if store.settings.on_disk else None,
            "dirty_ratio": store.log.settings.dirty_share if self._stores.about.changelog.compacted else None,
        }

    def _settings(self) -> dict[str, float | None]:
        """Those that may change while the query runs. tuning_step: of the agent, from 0 on, None without one."""
        log, cleaner, tuner = self._stores.tasks[0].store.log.settings, self._stores.broker.cleaner, self._stores.tuner
        return {
            "commit_s": self._stores.commit_period_ns / 1e9,
            "segment_ms": log.segment_ns / 1e6,
            "backoff_s": None if cleaner is None else cleaner.settings.backoff_ns / 1e9,
            "threads": None if cleaner is None else cleaner.settings.threads,
            "tuning_step": None if tuner is None else tuner.step,
        }

    def _cleaners(self) -> dict[str, dict[str, float | None]]:
        """Threads of the broker, by number from 1 on: the number of the store whose changelog they clean, None asleep, and until when."""
        cleaner = self._stores.broker.cleaner
        if cleaner is None:
            return {}
        return {
            str(n): {
                "log": None if thread.pass_ is None else thread.log,
                "until_s": thread.until_ns / 1e9,
                "bytes": 0 if thread.pass_ is None else thread.pass_.clean_bytes + thread.pass_.dirty_bytes,
            }
            for n, thread in enumerate(cleaner.threads, 1)
        }


def _store(task: Task) -> dict[str, Any]:
    """Of one instance, from its cache down to its log. behind: records of the log that a restore with the disk would read; records:
    without it. segments: closed ones."""
    store = task.store
    tree, log = store.tree, store.log
    return {
        "cached": store.cache.used,
        "dirty": store.cache.dirty,
        "buffer_bytes": tree.active.bytes,
        "full_buffers": len(tree.full),
        "runs": sum(len(level) for level in tree.levels),
        "disk_bytes": tree.disk_bytes,
        "write_amplification": round(tree.write_amplification, 6),
        "read_amplification": tree.read_amplification,
        "log_bytes": log.bytes,
        "clean_bytes": log.clean_bytes,
        "dirty_bytes": log.dirty_bytes,
        "dirty_ratio": round(log.dirty_share, 6),
        "segments": len(log.clean) + len(log.dirty),
        "end": log.end,
        "behind": log.count_from(store.offset + 1),
        "records": log.count,
    }


def outages_between(outages: Sequence[Outage], from_ns: int, to_ns: int) -> list[Outage]:
    """Those of which something has happened after one time, up to the other."""
    lately = range(from_ns + 1, to_ns + 1)
    return [one for one in outages if any(at_ns in lately for at_ns in (one.lost_ns, one.started_ns, one.ready_ns))]


def told(one: Outage, hosts: Sequence[str], to_ns: int) -> dict[str, Any]:
    """An outage up to the end of a frame. started_s: None before its processes are up; ready_s: when its last store is filled, as soon as
    known; again: None before."""
    is_up, is_over = one.started_ns <= to_ns, one.ready_ns <= to_ns
    return {
        "host": hosts[one.host],
        "lost_s": one.lost_ns / 1e9,
        "disk_lost": one.disk_lost,
        "started_s": one.started_ns / 1e9 if is_up else None,
        "ready_s": one.ready_ns / 1e9 if is_up and one.ready_ns < L.FAR else None,
        "lost_changes": one.lost_changes,
        "results_again": one.results_again,
        "again": one.again if is_over else None,
        "restores": [
            {
                "store": name,
                "way": restored.way,
                "reason": restored.reason,
                "records": restored.records,
                "bytes": restored.bytes,
                "took_ms": round(restored.took_ns / 1e6, 6),
            }
            for name, restored in one.restored.items()
        ],
    }


def recovered(outages: Sequence[Outage], now_ns: int) -> dict[str, Any]:
    """Of losses of hosts, since the start of the run. longest_restore_ms, longest_outage_ms: None without one that is over."""
    over = [one for one in outages if one.ready_ns <= now_ns]
    restores = [restored for one in over for restored in one.restored.values()]
    return {
        "outages": len(outages),
        "lost_changes": sum(one.lost_changes for one in outages),
        "results_again": sum(one.results_again for one in outages),
        "read_again": sum(one.again for one in over),
        "restored_records": sum(restored.records for restored in restores),
        "longest_restore_ms": max((round(restored.took_ns / 1e6, 6) for restored in restores), default=None),
        "longest_outage_ms": max((round((one.ready_ns - one.lost_ns) / 1e6, 6) for one in over), default=None),
    }
