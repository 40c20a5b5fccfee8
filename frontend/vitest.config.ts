import { defineConfig, mergeConfig } from "vitest/config";
import build from "./vite.config";

// One process runs many test files. A process for each would take four times as long, nearly all of it to start.
export default mergeConfig(build, defineConfig({ test: { isolate: false } }));
