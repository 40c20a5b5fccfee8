/**
 * What can be done, in one list: pages and parts of pages put their commands in while they are shown, the keyboard obeys it, and the list
 * of keys (?) and the command palette (Ctrl+K) are drawn from it.
 */
import { useLayoutEffect } from "react";
import { create } from "zustand";
import type { Scope } from "../api/types";
import { toast } from "../ui/toasts";
import { refusalNow } from "./who";

export interface Command {
  does: string;
  /** Heading under which lists show it. */
  group: string;
  /** As `nameOf` writes them; the first one is shown beside the words. */
  keys?: readonly string[];
  run: () => void;
  /** Why it cannot be done now, as a sentence; null when it can. */
  refusal?: () => string | null;
  /** What it takes to do it, if more than looking. */
  needs?: Scope;
  /** Obeyed also while a field has the focus. */
  whileTyping?: boolean;
  /** The browser tells the page by itself when this key is pressed (paste); it is only listed. */
  byBrowser?: boolean;
  /** There are many of its kind: the palette lists it only when it is looked for. */
  onlyWhenSearched?: boolean;
}

export const useCommandStore = create<{ scopes: { name: string; commands: readonly Command[] }[] }>(() => ({ scopes: [] }));

/**
 * Offers commands while the calling component is mounted, from its first paint. The list must keep its identity as long as it is the same.
 */
export function useCommands(name: string, commands: readonly Command[]): void {
  useLayoutEffect(() => {
    const scope = { name, commands };
    useCommandStore.setState(({ scopes }) => ({ scopes: [...scopes, scope] }));
    return () => useCommandStore.setState(({ scopes }) => ({ scopes: scopes.filter((one) => one !== scope) }));
  }, [name, commands]);
}

/** All commands at hand: those of the page before those of the application. */
export const commandsNow = (): Command[] => useCommandStore.getState().scopes.toReversed().flatMap((scope) => scope.commands);

const refusalOfWho = (command: Command) => (command.needs ? refusalNow(command.needs) : null);

/** Why a command cannot be done now: by whom, or as things are. */
export const refusalOf = (command: Command) => refusalOfWho(command) ?? command.refusal?.() ?? null;

/** Does what a key would do; for menus. */
export const runCommand = (does: string) => commandsNow().find((command) => command.does === does)?.run();

export function nameOf(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">): string {
  const key = event.key === " " ? "Space" : event.key.length === 1 ? event.key.toUpperCase() : event.key;
  const modified = event.ctrlKey || event.metaKey;
  const shifted = event.shiftKey && (modified || event.altKey || key.length > 1);
  return `${modified ? "Ctrl+" : ""}${event.altKey ? "Alt+" : ""}${shifted ? "Shift+" : ""}${key}`;
}

const SIGNS: { [key: string]: string } = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };

/** A key's name as people read it. */
export const readable = (key: string) => key.replace(/Arrow\w+/, (name) => SIGNS[name] ?? name);

const CHOICES = ["radio", "checkbox", "range"];

/** Keys belong to a field while it has the focus; letters and signs mean nothing to a choice, though. */
const isTyping = ({ target, key }: KeyboardEvent) => {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement && CHOICES.includes(target.type) && key.length === 1 && key !== " ") return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
};

/** Runs the command of a key, if there is one that is at hand now. While a dialog is open, keys belong to it. */
export function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
  const name = nameOf(event);
  const typing = isTyping(event);
  const command = commandsNow().find((one) => one.keys?.includes(name) && (!typing || one.whileTyping));
  if (!command || command.byBrowser) return;
  event.preventDefault();
  const why = refusalOfWho(command);
  if (why) toast(why, { tone: "warn" });
  else if (!command.refusal?.()) command.run();
}
