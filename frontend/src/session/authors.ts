/** Who saved an experiment, in words. */
import type { Saved } from "../api/types";
import { PAGE } from "../lib/page";
import { useWho } from "./who";

type Author = Pick<Saved, "author" | "token" | "editor">;

/** With the tab, for what happens now: "You, in another tab", "ben", "ben (token nightly)". */
export function authorNow({ author, token, editor }: Author, me = useWho.getState().me?.name): string {
  if (!author) return "Someone";
  if (author !== me) return token ? `${author} (token ${token})` : author;
  if (token) return `You, with the token ${token}`;
  return editor === PAGE ? "You" : "You, in another tab";
}

/** Without the tab, for what is past; nobody is known of what was saved before versions were kept. */
export function authorThen({ author, token, editor }: Author, me = useWho.getState().me?.name): string {
  if (!author) return "Original";
  return authorNow({ author, token, editor: author === me && !token ? PAGE : editor }, me);
}
