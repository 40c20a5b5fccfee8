import type { NodeProps } from "@xyflow/react";
import { memo, useMemo } from "react";
import { describeHost, describeLinks, hostSpec, instancesByHost } from "../../../model/document/hosts";
import { isWithin, regionLinksOf } from "../../../model/document/regions";
import { problemsByPart } from "../../../model/document/validate";
import { colourOf } from "../../../model/graph/colours";
import { slotsOn, specOn, type HostGroup, type HostTile } from "../../../model/graph/hostTiles";
import { Icon } from "../../../ui/Icon";
import type { IconName } from "../../../ui/icons";
import { drawnPlacement, select, useEditor } from "../editor";
import { RegionLinkLabel } from "./RegionLinks";

const GROUP_ICONS: Record<string, IconName> = { edge: "device", fog: "fog", cloud: "cloud" };
/** The hosts of one region below the waterline, with the instances that stand on each host as coloured squares. */
export const HostGroupNode = memo(function HostGroupNode({ data }: NodeProps) {
  const group = data.group as HostGroup;
  const document = useEditor((state) => state.document);
  const placement = useEditor(drawnPlacement);
  const problems = useEditor((state) => state.problems);
  const instances = useMemo(() => instancesByHost(document, placement), [document, placement]);
  const flagged = useMemo(() => problemsByPart(problems, document).hosts, [problems, document]);
  const templates = [...new Set(group.tiles.map((tile) => tile.template))].map((index) => document.cluster.hosts[index]);
  const notes = [...templates.filter((host) => host !== undefined).map(describeHost), ...describeLinks(document, group.id)];
  const within = regionLinksOf(document).findIndex((link) => isWithin(link) && link.source === group.id);
  return (
    <section className="grp" style={{ width: group.width, height: group.height }} aria-label={`Hosts, ${group.id}`}>
      <header>
        <Icon name={GROUP_ICONS[group.id] ?? "host"} />
        {group.id.replace(/^./, (letter) => letter.toUpperCase())}
        {within >= 0 && <RegionLinkLabel index={within} />}
        <span>{group.hosts}</span>
      </header>
      {group.tiles.map((tile) => (
        <Tile
          key={tile.name}
          tile={tile}
          instances={instances.get(tile.name) ?? []}
          flagged={(flagged.get(tile.template) ?? []).length > 0}
        />
      ))}
      <p className="ell" title={notes.join("\n")}>
        {notes.join(" · ")}
      </p>
    </section>
  );
});

function Tile({ tile, instances, flagged }: { tile: HostTile; instances: string[]; flagged: boolean }) {
  const operators = useEditor((state) => state.document.query.operators);
  const selected = useEditor((state) => state.selection.host === tile.template);
  const lit = useEditor((state) => state.hovered ?? (state.selection.operators.length === 1 ? state.selection.operators[0] : undefined));
  const isTarget = useEditor((state) => state.landing?.host === tile.name);
  const host = useEditor((state) => state.document.cluster.hosts[tile.template]);
  const idle = operators.length > 0 && !instances.length;
  const { shown } = slotsOn(tile.width, instances.length);
  const told = [host && hostSpec(host).join(", "), instances.length ? countsOf(instances) : "no operator"].filter(Boolean).join("; ");
  return (
    <button
      className={`host nodrag nopan ${selected ? "selected" : ""} ${isTarget ? "target" : ""} ${flagged || idle ? "flag" : ""}`}
      style={{ left: tile.x, top: tile.y, width: tile.width }}
      title={`${tile.name}: ${told}`}
      data-testid={`host-${tile.name}`}
      onClick={() => select({ host: tile.template })}
    >
      <b>
        <Icon name={flagged ? "warn" : "host"} small />
        <span className="ell">{tile.name}</span>
        {tile.more > 0 && <em>+{tile.more}</em>}
      </b>
      <small className="ell">{specOn(tile.width, host)}</small>
      {instances.length ? (
        <span className="slots">
          {instances.slice(0, shown).map((id, at) => (
            <i
              key={at}
              className={id === lit ? "hl" : ""}
              style={{ "--oc": colourOf(operators.findIndex((one) => one.id === id)) } as React.CSSProperties}
            />
          ))}
          {instances.length > shown && <small>+{instances.length - shown}</small>}
        </span>
      ) : (
        <small className="use">{operators.length ? "idle" : "free"}</small>
      )}
    </button>
  );
}

function countsOf(instances: string[]): string {
  const counts = new Map<string, number>();
  for (const id of instances) counts.set(id, (counts.get(id) ?? 0) + 1);
  return [...counts].map(([id, count]) => (count > 1 ? `${count} × ${id}` : id)).join(", ");
}
