import { useQueries, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { framesQuery, isActive } from "../../api/queries";
import { RunSocket } from "../../api/runSocket";
import type { Frame, Run } from "../../api/types";

/** Several charts are drawn anew with each change of a list. */
const SHOW_MS = 500;
const NONE: Frame[] = [];

/** The frames of runs: of those that have ended from the files, of the others as they come. */
export function useFrames(runs: Run[]): Frame[][] {
  const ended = useQueries({ queries: runs.map((run) => framesQuery(run)), combine: dataOf });
  const [followed, setFollowed] = useState<Record<string, Frame[]>>({});
  const active = runs.filter(isActive).map(({ id }) => id).join(",");
  useEffect(() => {
    const following = active.split(",").filter(Boolean).map((id) => follow(id, (frames) => setFollowed((all) => ({ ...all, [id]: frames }))));
    return () => following.forEach((stop) => stop());
  }, [active]);
  return useMemo(() => runs.map((run, at) => ended[at] ?? followed[run.id] ?? NONE), [runs, ended, followed]);
}

/** Follows a run, and shows now and then what has come. Returns how to stop. */
function follow(id: string, show: (frames: Frame[]) => void): () => void {
  const frames: Frame[] = [];
  let waiting: ReturnType<typeof setTimeout> | undefined;
  const socket = new RunSocket(id, {
    after: () => frames.length - 1,
    onFrames: (batch) => {
      const fresh = batch.filter(({ n }) => n >= frames.length);
      const follows = fresh.every(({ n }, at) => n === frames.length + at);
      if (follows) frames.push(...fresh);
      waiting ??= setTimeout(() => {
        waiting = undefined;
        show([...frames]);
      }, SHOW_MS);
      return follows;
    },
    onRun: () => undefined,
    onEnd: () => undefined,
    onRefused: () => undefined,
    onTrouble: () => undefined,
  });
  socket.open();
  return () => {
    clearTimeout(waiting);
    socket.close();
  };
}

const dataOf = (results: UseQueryResult<Frame[]>[]) => results.map(({ data }) => data);
