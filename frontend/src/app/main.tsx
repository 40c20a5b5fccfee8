import "./ahead";
import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createBrowserRouter, RouterProvider } from "react-router";
import { ApiError } from "../api/client";
import { registryQuery } from "../api/queries";
import { SIGNED_OUT_EVENT } from "../api/socket";
import { FirstExperiment } from "../experiments/FirstExperiment";
import { Loading } from "../ui/states";
import { Crash } from "./Crash";
import { NotFound } from "./NotFound";
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
      { path: "/templates", lazy: () => import("../templates/TemplatesPage").then(({ TemplatesPage }) => ({ Component: TemplatesPage })) },
      {
        path: "/experiments",
        lazy: () => import("../experiments/ExperimentsPage").then(({ ExperimentsPage }) => ({ Component: ExperimentsPage })),
      },
      { path: "/experiments/:id", lazy: () => import("../canvas/CanvasPage").then(({ CanvasPage }) => ({ Component: CanvasPage })) },
      { path: "/figures", lazy: () => import("../figures/FiguresPage").then(({ FiguresPage }) => ({ Component: FiguresPage })) },
      { path: "/figures/:paper/:figure", lazy: () => import("../figures/FigurePage").then(({ FigurePage }) => ({ Component: FigurePage })) },
      { path: "/datasets", lazy: () => import("../datasets/DatasetsPage").then(({ DatasetsPage }) => ({ Component: DatasetsPage })) },
      { path: "/runs", lazy: () => import("../runs/RunsPage").then(({ RunsPage }) => ({ Component: RunsPage })) },
      { path: "/runs/:id", lazy: () => import("../run/RunPage").then(({ RunPage }) => ({ Component: RunPage })) },
      {
        path: "/runs/:id/recoveries/:epoch",
        lazy: () => import("../learn/RecoveryPage").then(({ RecoveryPage }) => ({ Component: RecoveryPage })),
      },
      { path: "/studies", lazy: () => import("../studies/StudiesPage").then(({ StudiesPage }) => ({ Component: StudiesPage })) },
      { path: "/studies/new", lazy: () => import("../studies/NewStudyPage").then(({ NewStudyPage }) => ({ Component: NewStudyPage })) },
      { path: "/studies/:id", lazy: () => import("../studies/StudyPage").then(({ StudyPage }) => ({ Component: StudyPage })) },
      { path: "/analysis", lazy: () => import("../analysis/AnalysesPage").then(({ AnalysesPage }) => ({ Component: AnalysesPage })) },
      { path: "/analysis/:id", lazy: () => import("../analysis/AnalysisPage").then(({ AnalysisPage }) => ({ Component: AnalysisPage })) },
      { path: "/compare", lazy: () => import("../compare/ComparePage").then(({ ComparePage }) => ({ Component: ComparePage })) },
      { path: "/lab/:tab?", lazy: () => import("../lab/LabPage").then(({ LabPage }) => ({ Component: LabPage })) },
      { path: "/learn/:lesson?", lazy: () => import("../learn/LearnPage").then(({ LearnPage }) => ({ Component: LearnPage })) },
      { path: "/help/:family?/:kind?", lazy: () => import("../help/HelpPage").then(({ HelpPage }) => ({ Component: HelpPage })) },
      { path: "*", element: <NotFound /> },
    ],
  },
  { path: "/join", errorElement: <Crash />, lazy: () => import("./JoinPage").then(({ JoinPage }) => ({ Component: JoinPage })) },
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
