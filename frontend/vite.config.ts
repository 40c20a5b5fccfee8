import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// `npm run dev` draws from a server that already runs: MILLRACE_URL=http://127.0.0.1:8000 npm run dev
const server =
  (globalThis as { process?: { env: Record<string, string | undefined> } }).process?.env.MILLRACE_URL ?? "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [react()],
  base: "/",
  build: {
    outDir: "dist",
    emptyOutDir: true,
    chunkSizeWarningLimit: 1800,
    // What several pages share comes in two files: a page of twenty small ones is there much later than its size says.
    rolldownOptions: {
      // What jspdf would load to make PDF of HTML, which nobody asks for.
      external: ["canvg", "html2canvas", "dompurify"],
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            { name: "framework", test: /node_modules\/(react|react-dom|scheduler|react-router|cookie|set-cookie-parser|@tanstack)\// },
            { name: "common", test: /\/src\/.*\.(ts|tsx)$/, minShareCount: 3, maxModuleSize: 20_000 },
          ],
        },
      },
    },
  },
  // The Host header stays the browser's, for the server compares it with the Origin.
  server: {
    proxy: Object.fromEntries(
      ["/api", "/signin", "/ws"].map((path) => [path, { target: server, ws: path === "/ws", changeOrigin: false }]),
    ),
  },
});
