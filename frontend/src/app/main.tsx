import "./ahead";
import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createBrowserRouter, RouterProvider } from "react-router";
import { ApiError } from "../api/client";
import { registryQuery } from "../api/queries";
import { SIGNED_OUT_EVENT } from "../api/socket";
import { FirstExperiment } from "../pages/experiments/FirstExperiment";
import { NotFound } from "../ui/NotFound";
import { Loading } from "../ui/states";
import { Crash } from "./Crash";
import { Shell } from "./Shell";
import "../ui/tokens.css";
import "../ui/base.css";
import "./app.css";

const client: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    // A session that ran out is told of, wherever it is noticed.
    onError: (error, query) => {
      if (error instanceof ApiError && error.status === 401 && query.queryKey[0] !== "me") askWhoIsThere();
    },
  }),
  defaultOptions: {
    queries: { retry: (count, error) => !(error instanceof ApiError && error.status >= 400) && count < 3, staleTime: 5000 },
  },
});

const askWhoIsThere = () => void client.invalidateQueries({ queryKey: ["me"] });
window.addEventListener(SIGNED_OUT_EVENT, askWhoIsThere);

/** Each page is a file of its own, loaded when it is opened first. */
const router = createBrowserRouter([
  {
    element: <Shell />,
    errorElement: <Crash />,
    hydrateFallbackElement: <Loading />,
    children: [
      { path: "/", element: <FirstExperiment /> },
      { path: "/templates", lazy: () => import("../pages/templates/TemplatesPage").then(({ TemplatesPage }) => ({ Component: TemplatesPage })) },
      {
        path: "/experiments",
        lazy: () => import("../pages/experiments/ExperimentsPage").then(({ ExperimentsPage }) => ({ Component: ExperimentsPage })),
      },
      { path: "/experiments/:id", lazy: () => import("../pages/canvas/CanvasPage").then(({ CanvasPage }) => ({ Component: CanvasPage })) },
      { path: "/figures", lazy: () => import("../pages/figures/FiguresPage").then(({ FiguresPage }) => ({ Component: FiguresPage })) },
      { path: "/figures/:paper/:figure", lazy: () => import("../pages/figures/FigurePage").then(({ FigurePage }) => ({ Component: FigurePage })) },
      { path: "/datasets", lazy: () => import("../pages/datasets/DatasetsPage").then(({ DatasetsPage }) => ({ Component: DatasetsPage })) },
      { path: "/runs", lazy: () => import("../pages/runs/RunsPage").then(({ RunsPage }) => ({ Component: RunsPage })) },
      { path: "/runs/:id", lazy: () => import("../pages/run/RunPage").then(({ RunPage }) => ({ Component: RunPage })) },
      {
        path: "/runs/:id/recoveries/:epoch",
        lazy: () => import("../pages/learn/RecoveryPage").then(({ RecoveryPage }) => ({ Component: RecoveryPage })),
      },
      { path: "/studies", lazy: () => import("../pages/studies/StudiesPage").then(({ StudiesPage }) => ({ Component: StudiesPage })) },
      { path: "/studies/new", lazy: () => import("../pages/studies/NewStudyPage").then(({ NewStudyPage }) => ({ Component: NewStudyPage })) },
      { path: "/studies/:id", lazy: () => import("../pages/studies/StudyPage").then(({ StudyPage }) => ({ Component: StudyPage })) },
      { path: "/analysis", lazy: () => import("../pages/analysis/AnalysesPage").then(({ AnalysesPage }) => ({ Component: AnalysesPage })) },
      { path: "/analysis/:id", lazy: () => import("../pages/analysis/AnalysisPage").then(({ AnalysisPage }) => ({ Component: AnalysisPage })) },
      { path: "/models", lazy: () => import("../pages/models/ModelsPage").then(({ ModelsPage }) => ({ Component: ModelsPage })) },
      { path: "/models/:name", lazy: () => import("../pages/models/ModelPage").then(({ ModelPage }) => ({ Component: ModelPage })) },
      { path: "/compare", lazy: () => import("../pages/compare/ComparePage").then(({ ComparePage }) => ({ Component: ComparePage })) },
      { path: "/lab/:tab?", lazy: () => import("../pages/lab/LabPage").then(({ LabPage }) => ({ Component: LabPage })) },
      { path: "/learn/:lesson?", lazy: () => import("../pages/learn/LearnPage").then(({ LearnPage }) => ({ Component: LearnPage })) },
      { path: "/help/:family?/:kind?", lazy: () => import("../pages/help/HelpPage").then(({ HelpPage }) => ({ Component: HelpPage })) },
      { path: "*", element: <NotFound /> },
    ],
  },
  { path: "/join", errorElement: <Crash />, lazy: () => import("../pages/join/JoinPage").then(({ JoinPage }) => ({ Component: JoinPage })) },
]);

void client.prefetchQuery(registryQuery); // it was asked for ahead

const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
