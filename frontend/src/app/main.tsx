import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createBrowserRouter, RouterProvider } from "react-router";
import { ApiError } from "../api/client";
import { CanvasPage } from "../canvas/CanvasPage";
import { ExperimentsPage } from "../experiments/ExperimentsPage";
import { FirstExperiment } from "../experiments/FirstExperiment";
import { RunPage } from "../run/RunPage";
import { RunsPage } from "../runs/RunsPage";
import { Crash } from "./Crash";
import { NotFound } from "./NotFound";
import { Shell } from "./Shell";
import "../ui/tokens.css";
import "../ui/base.css";
import "./app.css";

const client: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    // A session that ran out shows the sign-in page, wherever it is noticed.
    onError: (error, query) => {
      if (error instanceof ApiError && error.status === 401 && query.queryKey[0] !== "me")
        void client.invalidateQueries({ queryKey: ["me"] });
    },
  }),
  defaultOptions: {
    queries: { retry: (count, error) => !(error instanceof ApiError && error.status >= 400) && count < 3, staleTime: 5000 },
  },
});

const router = createBrowserRouter([
  {
    element: <Shell />,
    errorElement: <Crash />,
    children: [
      { path: "/", element: <FirstExperiment /> },
      { path: "/experiments", element: <ExperimentsPage /> },
      { path: "/experiments/:id", element: <CanvasPage /> },
      { path: "/runs", element: <RunsPage /> },
      { path: "/runs/:id", element: <RunPage /> },
      { path: "*", element: <NotFound /> },
    ],
  },
]);

const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
