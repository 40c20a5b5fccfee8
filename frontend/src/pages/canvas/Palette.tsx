import { useQuery } from "@tanstack/react-query";
import { useLayoutEffect, useMemo, useRef, useState } from "react";
import { datasetsQuery } from "../../api/queries";
import type { Tagged } from "../../api/types";
import { initialValue } from "../../model/document/schema";
import { foldedGroups, rememberFolded } from "../../session/foldedGroups";
import { WriteButton } from "../../session/may";
import { useRefusal } from "../../session/who";
import { Icon, iconOf } from "../../ui/Icon";
import type { IconName } from "../../ui/icons";
import { Loading } from "../../ui/states";
import { useRoving } from "../../ui/useRoving";
import { addItem, PALETTE_TYPE, type PaletteItem } from "./commands";
import { useEditor } from "./editor";
import { useRegistry } from "./useRegistry";

interface Entry {
  key: string;
  group: string;
  title: string;
  note: string;
  doc: string;
  icon: IconName;
  item: PaletteItem;
}

const HOST_ENTRIES: [group: string, title: string, note: string, icon: IconName][] = [
  ["cloud", "Cloud host", "n identical", "host"],
  ["fog", "Fog node", "", "fog"],
  ["edge", "Edge device", "", "device"],
];

/** Those that speak of the word, as they are called before as they are described. */
function ranked(entries: Entry[], word: string): Entry[] {
  const rank = ({ title, note, group, doc }: Entry) => {
    const at = title.toLowerCase().indexOf(word);
    if (at >= 0) return at === 0 ? 0 : 1;
    return `${note} ${group}`.toLowerCase().includes(word) ? 2 : doc.toLowerCase().includes(word) ? 3 : null;
  };
  const known = entries.flatMap((entry) => {
    const at = rank(entry);
    return at === null ? [] : [{ entry, at }];
  });
  return known.sort((a, b) => a.at - b.at).map(({ entry }) => entry);
}

/** Whole joins, with all their stages. */
const SIMILARITY_JOINS: Entry[] = ([2, 1] as const).map((streams) => ({
  key: streams === 2 ? "similarity join" : "similarity self-join",
  group: "Similarity",
  title: streams === 2 ? "Similarity join" : "Similarity self-join",
  note: "S3J",
  doc:
    streams === 2
      ? "Pairs of two streams whose vectors are within a threshold of each other: spaces, worksets and join at once. Two sources that feed nothing yet become its inputs."
      : "Pairs within one stream, such as near-duplicates: spaces, worksets and join at once. A source that feeds nothing yet becomes its input.",
  icon: iconOf("rings"),
  item: { part: "similarity join", streams },
}));

/** Without watermarks no event-time window behind a source ever closes. */
const WATERMARKS: Tagged = { kind: "bounded", lag_ms: 0, period_ms: 1000 };

/** Everything that can be placed, from the registry: search, drag, or Enter. One tab stop; the arrow keys move within. */
export function Palette({ onUpload, onImport, onTemplates }: { onUpload: () => void; onImport: () => void; onTemplates: () => void }) {
  const { registry, kinds } = useRegistry();
  const { data: datasets = [] } = useQuery(datasetsQuery);
  const [search, setSearch] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const entries = useMemo(() => {
    const list: Entry[] = [];
    for (const stream of registry.streams ?? []) {
      if (stream.kind === "file") continue;
      const family = stream.group || "";
      const plain = stream.title.replace(new RegExp(`^${family}\\s+`, "i"), "");
      list.push({
        key: `stream ${stream.kind}`,
        group: "Sources",
        title: plain.replace(/^./, (c) => c.toUpperCase()),
        note: family,
        doc: stream.doc,
        icon: "source",
        item: {
          part: "source",
          stream: { ...initialValue(stream.schema), kind: stream.kind },
          name: plain,
          rate: { kind: "constant", per_s: stream.usual_per_s ?? 1000 },
          watermarks: WATERMARKS,
        },
      });
    }
    for (const dataset of datasets) {
      list.push({
        key: `dataset ${dataset.id}`,
        group: "Sources",
        title: dataset.name,
        note: `${dataset.rows.toLocaleString("en-US")} rows`,
        icon: "upload",
        doc: dataset.columns.map((column) => `${column.name} ${column.type}`).join(", "),
        item: {
          part: "source",
          name: dataset.name.replace(/\.\w+$/, ""),
          stream: { kind: "file", dataset: dataset.name, timestamp: dataset.timestamps[0] ?? "" },
          rate: { kind: "recorded", speed: 1 },
          watermarks: WATERMARKS,
        },
      });
    }
    for (const kind of registry.operators ?? []) {
      if (!kind.inputs.length) continue;
      list.push({
        key: `operator ${kind.kind}`,
        group: kind.group || "Operators",
        title: kind.title,
        note: "",
        doc: kind.doc,
        icon: iconOf(kind.icon || kind.kind),
        item: { part: "operator", kind: kind.kind },
      });
    }
    const stages = list.findIndex(({ group }) => group === "Similarity");
    if (stages >= 0) list.splice(stages, 0, ...SIMILARITY_JOINS);
    for (const [group, title, note, icon] of HOST_ENTRIES)
      list.push({ key: `host ${group}`, group: "Hardware", title, note, doc: "", icon, item: { part: "host", group } });
    return list;
  }, [registry, datasets]);

  const asked = useEditor((state) => state.paletteAsked);
  useLayoutEffect(() => {
    if (asked) field.current?.focus(); // at once, so that what is typed next lands in it
  }, [asked]);

  const refusal = useRefusal();
  const word = search.trim().toLowerCase();
  const shown = word ? ranked(entries, word) : entries;
  const groups = [...new Set(shown.map((entry) => entry.group))];
  const list = useRef<HTMLDivElement>(null);
  const roving = useRoving(list);
  const [folded, setFolded] = useState(foldedGroups);
  const fold = (group: string, is: boolean) => {
    if (is === folded.has(group)) return;
    const next = new Set(folded);
    if (is) next.add(group);
    else next.delete(group);
    setFolded(next);
    rememberFolded(next);
  };
  return (
    <aside className="pal" aria-label="Palette">
      <div className="find">
        <Icon name="search" />
        <input
          ref={field}
          aria-label="Search the palette"
          placeholder="Search operators, hosts"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && shown[0]) addItem(shown[0].item, kinds);
            if (event.key === "Escape") {
              setSearch("");
              field.current?.blur();
            }
            if (event.key === "ArrowDown") {
              event.preventDefault();
              roving.focusFirst();
            }
          }}
        />
        <kbd>/</kbd>
      </div>
      <div className="scroll" ref={list} tabIndex={refusal === null ? undefined : 0} onKeyDown={roving.onKeyDown} onFocus={roving.onFocus}>
        {!registry.operators && <Loading lines={8} />}
        {groups.map((group) => (
          <details key={group} open={word !== "" || !folded.has(group)} onToggle={(event) => !word && fold(group, !event.currentTarget.open)}>
            <summary>
              <h3>{group}</h3>
              <span>{shown.filter((entry) => entry.group === group).length}</span>
            </summary>
            <ul>
              {shown
                .filter((entry) => entry.group === group)
                .map((entry) => (
                  <li key={entry.key}>
                    <WriteButton
                      draggable
                      className={word && entry === shown[0] ? "next" : ""}
                      title={`${entry.doc ? `${entry.doc.split("\n\n")[0]}\n\n` : ""}Drag onto the canvas, or press Enter.`}
                      data-testid={`palette-${entry.key.replace(" ", "-")}`}
                      onDragStart={(event) => {
                        event.dataTransfer.setData(PALETTE_TYPE, JSON.stringify(entry.item));
                        event.dataTransfer.effectAllowed = "copy";
                      }}
                      onKeyDown={(event) => {
                        if (event.key === "Enter") {
                          event.preventDefault();
                          addItem(entry.item, kinds);
                        }
                      }}
                      onDoubleClick={() => addItem(entry.item, kinds)}
                    >
                      <Icon name={entry.icon} />
                      <span className="ell">{entry.title}</span>
                      <small className="ell">{entry.note}</small>
                    </WriteButton>
                  </li>
                ))}
              {group === "Sources" && !word && (
                <li>
                  <WriteButton onClick={onUpload} data-testid="palette-upload">
                    <Icon name="upload" />
                    <span>Upload a file</span>
                    <small>CSV, Parquet</small>
                  </WriteButton>
                </li>
              )}
            </ul>
          </details>
        ))}
        {!shown.length && registry.operators && (
          <p className="none">
            Nothing matches “{search}”.{" "}
            <button className="link" onClick={() => setSearch("")}>
              Show all
            </button>
          </p>
        )}
      </div>
      <footer>
        <button className="btn" onClick={onTemplates}>
          <Icon name="gallery" />
          Templates
        </button>
        <WriteButton className="btn" onClick={onImport}>
          <Icon name="import" />
          Import
        </WriteButton>
      </footer>
    </aside>
  );
}
