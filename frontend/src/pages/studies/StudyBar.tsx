import { useMutation } from "@tanstack/react-query";
import { Fragment, type RefObject } from "react";
import { Link, useNavigate } from "react-router";
import { post } from "../../api/client";
import { isActive } from "../../api/queries";
import type { StudyDetail, StudyResults } from "../../api/types";
import { download, fileName, PICTURES, savePicture, type PictureFormat } from "../../lib/save";
import { askLink } from "../../model/run/asking";
import { loadOf } from "../../model/study/study";
import { runsCsv, searchesCsv } from "../../model/study/table";
import { WriteButton } from "../../session/may";
import type { PlotHandle } from "../../ui/chart/Plot";
import { Icon } from "../../ui/Icon";
import type { IconName } from "../../ui/icons";
import { Menu } from "../../ui/Menu";
import { StateBadge } from "../../ui/states";
import { toast } from "../../ui/toasts";
import { TopBar } from "../../ui/TopBar";

/** What is open and its state; take its numbers and pictures along; a study like it; cancel or retry. */
export function StudyBar({
  study,
  results,
  metrics,
  charted,
  plots,
}: {
  study: StudyDetail;
  results: StudyResults | undefined;
  metrics: string[];
  /** Charts are on show. */
  charted: boolean;
  plots: RefObject<(PlotHandle | null)[]>;
}) {
  const navigate = useNavigate();
  const active = isActive(study);
  const ask = useMutation({
    mutationFn: (what: "cancel" | "retry") => post(`/api/studies/${study.id}/${what}`),
    onError: (error) => toast(error.message, { tone: "err" }),
  });
  const cancelling = active && (study.cancel_requested || ask.isPending);
  const whyNoRetry = active ? "It is in progress" : study.state === "succeeded" ? "All its runs are complete" : "";
  const save = (text: string, ending: string) => download(new Blob([text], { type: "text/plain" }), fileName(study.name, ending, "study"));
  const saveYaml = async () => {
    try {
      const { writeStudy } = await import("../../model/study/files");
      save(writeStudy(study.document), "yaml");
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), { tone: "err" });
    }
  };
  const saveCharts = async (format: PictureFormat) => {
    try {
      const drawn = (await Promise.all(plots.current.map((plot) => plot?.svg()))).flatMap((one, at) => (one ? [{ ...one, at }] : []));
      for (const { at, ...picture } of drawn) {
        await savePicture(picture, format, `${study.name} ${metrics[at] ?? ""}`, "study");
      }
    } catch (error) {
      toast(`The picture could not be created. ${error instanceof Error ? error.message : String(error)}`, { tone: "err" });
    }
  };
  const entry = (close: () => void, icon: IconName, words: string, run: () => void, why = "") => (
    <button
      disabled={Boolean(why)}
      title={why}
      onClick={() => {
        close();
        run();
      }}
    >
      <Icon name={icon} />
      {words}
    </button>
  );
  const none = results ? "" : "No results yet";
  return (
    <TopBar
      title={study.name}
      crumb={
        <>
          <Link to="/studies">Studies</Link>
          <span>/</span>
          <b title={study.name} className="ell">
            {study.name}
          </b>
          <StateBadge state={study.state} />
        </>
      }
      actions={
        <>
          <Menu
            title="Export results"
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
                {entry(close, "table", "Runs as CSV", () => results && save(runsCsv(study.document, results, metrics), "csv"), none)}
                {loadOf(study.document) &&
                  entry(close, "table", "Loads tried as CSV", () => results && save(searchesCsv(study.document, results), "loads.csv"), none)}
                <a href={`/api/studies/${study.id}/report`} download onClick={close}>
                  <Icon name="book" />
                  Report as HTML
                </a>
                {PICTURES.map((format) => (
                  <Fragment key={format}>
                    {entry(close, "figures", `Charts as ${format.toUpperCase()}`, () => void saveCharts(format), charted ? "" : "No chart is shown")}
                  </Fragment>
                ))}
                {entry(close, "export", "The study as YAML", () => void saveYaml())}
              </>
            )}
          </Menu>
          <WriteButton className="btn" title="Ask a question about the runs of this study" onClick={() => void navigate(askLink({ study: study.id }))}>
            <Icon name="agg" />
            Analyse
          </WriteButton>
          <Link className="btn" to={`/studies/new?study=${study.id}`} title="A new study, starting from this one">
            <Icon name="copy" />
            Edit as new
          </Link>
          {active ? (
            <WriteButton
              className="btn danger"
              data-testid="cancel"
              disabled={cancelling}
              title={cancelling ? "Its runs stop within a second" : "Stop this study and its runs; its results are kept"}
              onClick={() => ask.mutate("cancel")}
            >
              <Icon name="cross" />
              {cancelling ? "Cancelling" : "Cancel"}
            </WriteButton>
          ) : (
            <WriteButton
              className="btn"
              data-testid="retry"
              disabled={Boolean(whyNoRetry) || ask.isPending}
              title={whyNoRetry || (study.state === "cancelled" ? "Resume where it was cancelled" : "Repeat the failed runs")}
              onClick={() => ask.mutate("retry")}
            >
              <Icon name="rerun" />
              {study.state === "cancelled" ? "Resume" : "Retry"}
            </WriteButton>
          )}
        </>
      }
    />
  );
}
