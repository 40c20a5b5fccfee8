import { useMutation } from "@tanstack/react-query";
import type { RefObject } from "react";
import { get } from "../../api/client";
import type { Scale } from "../../api/figure";
import type { FigureDetail, Json, Reproduction } from "../../api/types";
import { download, fileName, PICTURES, savePicture, type PictureFormat } from "../../lib/save";
import { coerceDocument } from "../../model/document/coerce";
import { csvOf, type DrawnPanel } from "../../model/figure/figure";
import { WriteButton } from "../../session/may";
import { useCreate } from "../../session/useCreate";
import { useRefusal } from "../../session/who";
import type { PlotHandle } from "../../ui/chart/Plot";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { toast } from "../../ui/toasts";
import { stacked } from "./stacked";
import { useCarryOut } from "./useCarryOut";

/** Export, run at the chosen scale or cancel that, and the experiment of a study as a draft of one's own. */
export function FigureActions({
  figure,
  scale,
  active,
  panels,
  plots,
  table,
}: {
  figure: FigureDetail;
  scale: Scale;
  active: Reproduction | undefined;
  panels: DrawnPanel[];
  plots: RefObject<(PlotHandle | null)[]>;
  /** only: the figure is a table, which has no picture. */
  table: boolean | "only";
}) {
  const { run, cancel } = useCarryOut();
  return (
    <>
      <Export figure={figure} scale={scale} panels={panels} plots={plots} table={table} />
      {active ? (
        <WriteButton
          className="btn danger"
          data-testid="cancel-figure"
          disabled={active.cancel_requested}
          title={active.cancel_requested ? "The workers stop within a second" : "Stop; completed runs are kept"}
          onClick={() => cancel.mutate(active)}
        >
          <Icon name="cross" />
          {active.cancel_requested ? "Cancelling" : "Cancel"}
        </WriteButton>
      ) : (
        <WriteButton
          className="btn"
          data-testid="run-figure"
          disabled={run.isPending}
          title={figure.document.scales?.[scale]?.about ?? "Measure again"}
          onClick={() => run.mutate({ figures: [figure.id], scale })}
        >
          <Icon name="rerun" />
          {figure.results.some((one) => one.scale === scale && !one.stale && !one.is_shipped) ? "Rerun" : "Run"} at {scale} scale
        </WriteButton>
      )}
      <Fork figure={figure} scale={scale} />
    </>
  );
}

function Export({
  figure,
  scale,
  panels,
  plots,
  table,
}: {
  figure: FigureDetail;
  scale: Scale;
  panels: DrawnPanel[];
  plots: RefObject<(PlotHandle | null)[]>;
  /** only: the figure is a table, which has no picture. */
  table: boolean | "only";
}) {
  const empty = panels.every(({ curves }) => !curves.length);
  const why = empty ? "Nothing measured at this scale yet" : table === "only" ? "It is a table; export it as CSV or in the report" : table ? "Show the charts first" : "";
  const picture = async (format: PictureFormat) => {
    try {
      const drawn = await Promise.all(panels.map(async ({ title }, at) => ({ title, picture: (await plots.current[at]?.svg()) ?? null })));
      await savePicture(stacked(`${figure.document.title} (${scale} scale)`, drawn), format, `${figure.id} ${scale}`, "figure");
    } catch (error) {
      toast(`The picture could not be created. ${error instanceof Error ? error.message : String(error)}`, { tone: "err" });
    }
  };
  return (
    <Menu
      title="Export the numbers or the picture"
      className="btn"
      label={
        <>
          <Icon name="export" />
          Export
          <Icon name="down" small />
        </>
      }
    >
      {(close) => (
        <>
          <button
            disabled={empty}
            title={empty ? why : ""}
            onClick={() => {
              download(new Blob([csvOf(panels)], { type: "text/csv" }), fileName(`${figure.id} ${scale}`, "csv", "figure"));
              close();
            }}
          >
            <Icon name="table" />
            <span>Numbers as CSV</span>
          </button>
          <a href={`/api/figures/${figure.id}/report?scale=${scale}`} download onClick={close}>
            <Icon name="book" />
            <span>Report as HTML</span>
          </a>
          {PICTURES.map((format) => (
            <button
              key={format}
              disabled={why !== ""}
              title={why}
              onClick={() => {
                void picture(format);
                close();
              }}
            >
              <Icon name="figures" />
              <span>Drawing as {format.toUpperCase()}</span>
            </button>
          ))}
        </>
      )}
    </Menu>
  );
}

function Fork({ figure, scale }: { figure: FigureDetail; scale: Scale }) {
  const create = useCreate();
  const refusal = useRefusal();
  const fork = useMutation({
    mutationFn: async (study: string) => {
      const path = `/api/figures/${figure.id}/studies/${encodeURIComponent(study)}?scale=${scale}`;
      const { document } = await get<{ document: { experiment: Json } }>(path);
      const experiment = coerceDocument(document.experiment);
      return create.mutateAsync({ ...experiment, name: `${experiment.name}, ${figure.id} ${study}` });
    },
    onError: (error) => toast(error.message, { tone: "err" }),
  });
  const [only, ...others] = Object.keys(figure.document.studies ?? {});
  const label = (
    <>
      <Icon name="fork" />
      Fork experiment
    </>
  );
  const title = `Opens the experiment at ${scale} scale as your own draft`;
  if (only === undefined)
    return (
      <button className="btn primary" disabled title="This figure rests on learned models, which thousands of drawn experiments are behind">
        {label}
      </button>
    );
  if (!others.length)
    return (
      <WriteButton
        className="btn primary"
        data-testid="fork-figure"
        disabled={fork.isPending}
        title={title}
        onClick={() => fork.mutate(only)}
      >
        {label}
      </WriteButton>
    );
  return (
    <Menu title={title} refusal={refusal ?? (fork.isPending ? "Saving" : null)} className="btn primary" label={label}>
      {(close) =>
        [only, ...others].map((study) => (
          <button
            key={study}
            data-testid={`fork-${study}`}
            onClick={() => {
              fork.mutate(study);
              close();
            }}
          >
            <Icon name="canvas" />
            <span>{study}</span>
          </button>
        ))
      }
    </Menu>
  );
}
