/** Who is in front of the page, and what they may do: for components, and for what the keyboard does outside of them. */
import { create } from "zustand";
import type { Me, Scope } from "../api/types";

export const useWho = create<{ me: Me | undefined }>(() => ({ me: undefined }));

const WORDS: Record<Scope, string> = {
  metrics: "it cannot read the metrics of the installation.",
  read: "it has no access.",
  write: "it can view everything and change nothing. Ask an owner for the member role.",
  admin: "only owners manage the lab. Ask one of them.",
};

/** Why somebody may not do what takes a right, as a sentence; null if they may, or while it is not known who they are. */
const refusalOf = (me: Me | undefined, needs: Scope) =>
  !me || me.scopes.includes(needs) ? null : `Your role is ${me.role}: ${WORDS[needs]}`;

export const useRefusal = (needs: Scope = "write") => useWho(({ me }) => refusalOf(me, needs));
export const refusalNow = (needs: Scope = "write") => refusalOf(useWho.getState().me, needs);
