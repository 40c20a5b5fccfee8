/** Who saved an experiment, in words. */
import type { Saved } from "../api/types";
import { PAGE } from "../lib/page";
import { useWho } from "./who";

type Author = Pick<Saved, "author" | "token" | "editor">;

/** With the tab, for what happens now: "You, in another tab", "ben", "You (token nightly)". */
export function authorNow({ author, token, editor }: Author, me = useWho.getState().me?.name): string {
  if (!author) return "Someone";
  const who = author === me ? "You" : author;
  if (token) return `${who} (token ${token})`;
  return author === me && editor !== PAGE ? "You, in another tab" : who;
}

/** Without the tab, for what is past. Of what was saved before versions were kept, and of examples as shipped, nobody is known. */
export function authorThen({ author, token }: Author, me = useWho.getState().me?.name): string {
  return author ? authorNow({ author, token, editor: PAGE }, me) : "Earlier state";
}
