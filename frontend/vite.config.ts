import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// `npm run dev` draws from a server that already runs: MILLRACE_URL=http://127.0.0.1:8000 npm run dev
const server =
  (globalThis as { process?: { env: Record<string, string | undefined> } }).process?.env.MILLRACE_URL ?? "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [react()],
  base: "/",
  build: { outDir: "dist", emptyOutDir: true, chunkSizeWarningLimit: 1800 },
  // The Host header stays the browser's, for the server compares it with the Origin.
  server: {
    proxy: Object.fromEntries(
      ["/api", "/signin", "/ws"].map((path) => [path, { target: server, ws: path === "/ws", changeOrigin: false }]),
    ),
  },
});
