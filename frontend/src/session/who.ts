/** Who is in front of the page, and what they may do: for components, and for what the keyboard does outside of them. */
import { create } from "zustand";
import type { Me, Scope } from "../api/types";

export const useWho = create<{ me: Me | undefined }>(() => ({ me: undefined }));

const WORDS: Record<Scope, string> = {
  metrics: "it reads no numbers of the installation.",
  read: "it sees nothing.",
  write: "it looks at everything and changes nothing. Ask an owner for the role member.",
  admin: "only owners look after the lab. Ask one of them.",
};

/** Why somebody may not do what takes a right, as a sentence; null if they may, or while it is not known who they are. */
const refusalOf = (me: Me | undefined, needs: Scope) =>
  !me || me.scopes.includes(needs) ? null : `Your role is ${me.role}: ${WORDS[needs]}`;

export const useRefusal = (needs: Scope = "write") => useWho(({ me }) => refusalOf(me, needs));
export const refusalNow = (needs: Scope = "write") => refusalOf(useWho.getState().me, needs);
