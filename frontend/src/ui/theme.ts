/** The theme: what was chosen in this browser, and what is shown now. */
import { create } from "zustand";

type Theme = "system" | "light" | "dark";
const KEY = "millrace.theme";

function stored(): Theme {
  try {
    const theme = localStorage.getItem(KEY);
    return theme === "light" || theme === "dark" ? theme : "system";
  } catch {
    return "system";
  }
}

/** `dark` is what is shown now; charts read their colours again when it changes. */
export const useTheme = create<{ theme: Theme; dark: boolean }>(() => ({ theme: stored(), dark: isDark(stored()) }));

const preference = window.matchMedia("(prefers-color-scheme: dark)");

function isDark(theme: Theme): boolean {
  return theme === "system" ? window.matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";
}

preference.addEventListener("change", () => useTheme.setState(({ theme }) => ({ dark: isDark(theme) })));

export function chooseTheme(theme: Theme): void {
  if (theme === "system") {
    localStorage.removeItem(KEY);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(KEY, theme);
    document.documentElement.dataset.theme = theme;
  }
  useTheme.setState({ theme, dark: isDark(theme) });
}

export const THEMES = [
  ["system", "System theme", "auto"],
  ["light", "Light", "sun"],
  ["dark", "Dark", "moon"],
] as const;
