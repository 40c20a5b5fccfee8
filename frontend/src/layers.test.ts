/** No module imports itself through others; imports for types alone count, too. */
import { expect, test } from "vitest";

const SOURCES: Record<string, string> = import.meta.glob("../**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true });
const IMPORTED = /from\s+"(\.[^"]+)"/g;

/** Modules imported by each module, by path from this folder. */
function imports(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [path, text] of Object.entries(SOURCES)) {
    const targets = [...text.matchAll(IMPORTED)].map(([, name]) => new URL(name as string, `file:///src/app/${path}`).href);
    const here = new URL(path, "file:///src/app/").href;
    found.set(here, targets);
  }
  for (const [path, targets] of found) {
    const known = targets.flatMap((target) => [target, `${target}.ts`, `${target}.tsx`].filter((name) => found.has(name)).slice(0, 1));
    found.set(path, known);
  }
  return found;
}

/** A circle of modules, or nothing. */
function circle(of: Map<string, string[]>): string[] | null {
  const done = new Set<string>();
  const way: string[] = [];
  const visit = (module: string): string[] | null => {
    if (done.has(module)) return null;
    const at = way.indexOf(module);
    if (at >= 0) return [...way.slice(at), module];
    way.push(module);
    for (const target of of.get(module) ?? []) {
      const found = visit(target);
      if (found) return found;
    }
    way.pop();
    done.add(module);
    return null;
  };
  for (const module of of.keys()) {
    const found = visit(module);
    if (found) return found;
  }
  return null;
}

test("there is no circle of imports", () => {
  const found = imports();
  expect(found.size).toBeGreaterThan(100);
  expect([...found.values()].flat().length).toBeGreaterThan(300);
  expect(circle(found)).toBeNull();
});

test("a circle would be found", () => {
  expect(circle(new Map([["a", ["b"]], ["b", ["c"]], ["c", ["b"]]]))).toEqual(["b", "c", "b"]);
});
