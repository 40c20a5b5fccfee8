import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";

const FILES: [format: string, what: string, hint: string][] = [
  ["csv", "CSV", "frames, one row each"],
  ["parquet", "Parquet", "frames, for pandas and Spark"],
  ["json", "JSON", "document, summary, frames"],
  ["yaml", "YAML", "document to repeat the run"],
  ["py", "Python", "code to repeat the run from a notebook"],
  ["html", "Report", "self-contained HTML"],
  ["bib", "BibTeX", "citation with hash and digest"],
];

/** What can be taken away from a run, each as a file. */
export function ExportMenu({ runId, gone }: { runId: string; gone: boolean }) {
  if (gone)
    return (
      <button className="btn icon" disabled title="This run was deleted" aria-label="Export">
        <Icon name="export" />
      </button>
    );
  return (
    <Menu title="Export" className="btn icon" label={<Icon name="export" />}>
      {(close) => (
        <>
          {FILES.map(([format, what, hint]) => (
            <a key={format} href={`/api/runs/${runId}/export?format=${format}`} download onClick={close}>
              <Icon name="export" small />
              {what}
              <small>{hint}</small>
            </a>
          ))}
        </>
      )}
    </Menu>
  );
}
