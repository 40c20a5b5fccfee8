import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { datasetsQuery } from "../api/queries";
import { initialValue } from "../model/schema";
import { Icon, iconOf } from "../ui/Icon";
import type { IconName } from "../ui/icons";
import { Loading } from "../ui/states";
import { addItem, PALETTE_TYPE, type PaletteItem } from "./commands";
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
  ["cloud", "Worker", "n × template", "host"],
  ["fog", "Fog node", "", "fog"],
  ["edge", "Edge device", "", "device"],
];

/** Everything that can be placed, from the registry: search, drag, or Enter. */
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
        item: { part: "source", stream: { ...initialValue(stream.schema), kind: stream.kind }, name: plain },
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
    for (const [group, title, note, icon] of HOST_ENTRIES)
      list.push({ key: `host ${group}`, group: "Hardware", title, note, doc: "", icon, item: { part: "host", group } });
    return list;
  }, [registry, datasets]);

  useEffect(() => {
    const focus = () => field.current?.focus();
    window.addEventListener("millrace:search-palette", focus);
    return () => window.removeEventListener("millrace:search-palette", focus);
  }, []);

  const word = search.trim().toLowerCase();
  const shown = entries.filter((entry) => !word || `${entry.title} ${entry.note} ${entry.group} ${entry.doc}`.toLowerCase().includes(word));
  const groups = [...new Set(shown.map((entry) => entry.group))];
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
          }}
        />
        <kbd>/</kbd>
      </div>
      <div className="scroll">
        {!registry.operators && <Loading lines={8} />}
        {groups.map((group) => (
          <section key={group}>
            <h3>
              {group}
              <span>{shown.filter((entry) => entry.group === group).length}</span>
            </h3>
            <ul>
              {shown
                .filter((entry) => entry.group === group)
                .map((entry) => (
                  <li key={entry.key}>
                    <button
                      draggable
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
                    </button>
                  </li>
                ))}
              {group === "Sources" && !word && (
                <li>
                  <button onClick={onUpload} data-testid="palette-upload">
                    <Icon name="upload" />
                    <span>Upload a file</span>
                    <small>CSV, Parquet</small>
                  </button>
                </li>
              )}
            </ul>
          </section>
        ))}
        {!shown.length && registry.operators && (
          <p className="none">
            Nothing is called “{search}”.{" "}
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
        <button className="btn" onClick={onImport}>
          <Icon name="import" />
          Import
        </button>
      </footer>
    </aside>
  );
}
