/** Whether a run's document is still the experiment's. */
import type { Json } from "../../api/types";
import { differences } from "../document/diff";

/** Where the two differ in what a run depends on; names, positions on the canvas and the seed make no other experiment. */
export const editedSince = (run: Json | undefined, experiment: Json): string[] =>
  differences(run, experiment)
    .map(({ pointer }) => pointer)
    .filter((pointer) => !/^\/(ui|name|description|assertions|workload\/seed)(\/|$)/.test(pointer));
