/**
 * Which part may import which: a folder knows only those above it in this list, a page no other page, and no module itself through others.
 * Imports for types alone, those that load later, and those of tests count, too.
 */
import { expect, test } from "vitest";

const LAYERS: [folder: string, holds: string][] = [
  ["lib", "what knows nothing of experiments: formats, files, searching, the address"],
  ["api", "what the web API sends and takes, and the ways to it"],
  ["model/document", "experiment documents: schemas, edits, problems, hosts, faults"],
  ["model/graph", "the drawn query: rules of connecting, layout, ways of edges, places of hosts"],
  ["model/run", "what runs are shown as: frames, charts, events, rescales, comparisons"],
  ["model/study", "studies: axes, tables, charts"],
  ["model/figure", "figures of papers"],
  ["model/learning", "corpora and learned models: what they are worth, the course of training"],
  ["ui", "parts that several pages draw with, forms from schemas among them"],
  ["session", "who is here, what they may do, and the commands at hand"],
  ["pages", "a folder for each page"],
  ["app", "entry, routes, frame and keyboard"],
];
const REACT = /^(react|@xyflow\/react)($|\/)/;

const SOURCES: Record<string, string> = import.meta.glob("./**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true });
const IMPORTED = /(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/g;

const nameOf = (path: string) => path.replace(/^\.\//, "");
const within = (folder: string, module: string) => module.startsWith(`${folder}/`);
const layerOf = (module: string) => LAYERS.findIndex(([folder]) => within(folder, module));
/** "pages/run" of a module in it. */
const pageOf = (module: string) => (within("pages", module) ? module.split("/").slice(0, 2).join("/") : null);

/** What each module names in its imports. */
const named = new Map(
  Object.entries(SOURCES).map(([path, text]) => [nameOf(path), [...text.matchAll(IMPORTED)].map(([, name]) => name as string)]),
);

/** Modules imported by each module, by path from this folder. */
const imports = new Map(
  [...named].map(([module, names]) => {
    const targets = names
      .filter((name) => name.startsWith("."))
      .map((name) => new URL(name, `file:///${module}`).pathname.slice(1))
      .flatMap((target) => [target, `${target}.ts`, `${target}.tsx`].filter((path) => named.has(path)).slice(0, 1));
    return [module, targets];
  }),
);

/** "module imports module" for what the order of layers does not allow. */
function upward(of: Map<string, string[]>): string[] {
  return [...of].flatMap(([module, targets]) =>
    targets
      .filter((target) => layerOf(target) > layerOf(module) || (pageOf(module) && pageOf(target) && pageOf(module) !== pageOf(target)))
      .map((target) => `${module} imports ${target}`),
  );
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

test("every module stands in a layer", () => {
  expect([...imports.keys()].filter((module) => layerOf(module) < 0)).toEqual([]);
});

test("modules import only what stands below them", () => {
  expect(imports.size).toBeGreaterThan(300);
  expect([...imports.values()].flat().length).toBeGreaterThan(1500);
  expect(upward(imports)).toEqual([]);
});

test("an import that runs up would be found", () => {
  const of = new Map([
    ["api/client.ts", ["ui/toasts.tsx", "lib/format.ts"]],
    ["model/graph/graph.ts", ["model/document/document.ts", "model/run/frames.ts"]],
    ["pages/run/keys.ts", ["pages/run/engine.ts", "pages/runs/columns.tsx", "session/commands.ts"]],
  ]);
  expect(upward(of)).toEqual([
    "api/client.ts imports ui/toasts.tsx",
    "model/graph/graph.ts imports model/run/frames.ts",
    "pages/run/keys.ts imports pages/runs/columns.tsx",
  ]);
});

test("the model does without React", () => {
  const models = [...named].filter(([module]) => within("model", module) && !module.includes(".test."));
  expect(models.filter(([, names]) => names.some((name) => REACT.test(name))).map(([module]) => module)).toEqual([]);
});

test("there is no circle of imports", () => {
  expect(circle(imports)).toBeNull();
});

test("a circle would be found", () => {
  expect(circle(new Map([["a", ["b"]], ["b", ["c"]], ["c", ["b"]]]))).toEqual(["b", "c", "b"]);
});
