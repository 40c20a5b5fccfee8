import { useLayoutEffect, useMemo, useState } from "react";
import { useNavigate } from "react-router";
import { onKey, useCommands, type Command } from "../session/commands";
import { chooseTheme, THEMES } from "../ui/theme";
import { CommandPalette } from "./CommandPalette";
import { KeyHelp } from "./KeyHelp";

/** Listens to the keyboard for all pages, and shows what can be done: the list of keys and the command palette. */
export function Keyboard({ screens }: { screens: readonly (readonly [to: string, label: string, ...unknown[]])[] }) {
  const [shown, setShown] = useState<"keys" | "commands" | null>(null);
  const navigate = useNavigate();
  const commands = useMemo(
    (): Command[] => [
      { group: "Everywhere", does: "Find a command", keys: ["Ctrl+K", "Ctrl+Shift+P"], run: () => setShown("commands"), whileTyping: true },
      { group: "Everywhere", does: "List the keys", keys: ["?"], run: () => setShown("keys") },
      ...screens.map(([to, label]): Command => ({ group: "Go to", does: label, run: () => void navigate(to) })),
      ...THEMES.map(([theme, label]): Command => ({ group: "Theme", does: label, run: () => chooseTheme(theme) })),
    ],
    [navigate, screens],
  );
  useCommands("application", commands);
  useLayoutEffect(() => {
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  if (shown === "keys") return <KeyHelp onClose={() => setShown(null)} />;
  if (shown === "commands") return <CommandPalette onClose={() => setShown(null)} />;
  return null;
}
