import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// `npm run dev` draws from a server that already runs: MILLRACE_URL=http://127.0.0.1:8000 npm run dev
const server = (globalThis as { process?: { env: Record<string, string | undefined> } }).process?.env.MILLRACE_URL ?? "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [react()],
  base: "/",
  build: { outDir: "dist", emptyOutDir: true, chunkSizeWarningLimit: 1800 },
  server: { proxy: { "/api": server, "/signin": server, "/ws": { target: server, ws: true } } },
});
