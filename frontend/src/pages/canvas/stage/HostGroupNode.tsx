import type { NodeProps } from "@xyflow/react";
import { memo, useMemo } from "react";
import { describeHost, describeLinks, instancesByHost } from "../../../model/document/hosts";
import { problemsByPart } from "../../../model/document/validate";
import { colourOf } from "../../../model/graph/colours";
import type { HostGroup, HostTile } from "../../../model/graph/hostTiles";
import { Icon } from "../../../ui/Icon";
import type { IconName } from "../../../ui/icons";
import { select, useEditor } from "../editor";

const GROUP_ICONS: Record<string, IconName> = { edge: "device", fog: "fog", cloud: "cloud" };
/** Squares that fit on a tile; more instances become a number. */
const SLOTS_MAX = 10;

/** One group of hosts below the waterline, with the instances that stand on each host as coloured squares. */
export const HostGroupNode = memo(function HostGroupNode({ data }: NodeProps) {
  const group = data.group as HostGroup;
  const document = useEditor((state) => state.document);
  const placement = useEditor((state) => state.placement);
  const problems = useEditor((state) => state.problems);
  const instances = useMemo(() => instancesByHost(document, placement), [document, placement]);
  const flagged = useMemo(() => problemsByPart(problems, document).hosts, [problems, document]);
  const templates = [...new Set(group.tiles.map((tile) => tile.template))].map((index) => document.cluster.hosts[index]);
  const notes = [...templates.filter((host) => host !== undefined).map(describeHost), ...describeLinks(document, group.id)];
  return (
    <section className="grp" style={{ width: group.width, height: group.height }} aria-label={`Hosts, ${group.id}`}>
      <header>
        <Icon name={GROUP_ICONS[group.id] ?? "host"} />
        {group.id.replace(/^./, (letter) => letter.toUpperCase())}
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
  const idle = operators.length > 0 && !instances.length;
  return (
    <button
      className={`host nodrag nopan ${selected ? "selected" : ""} ${isTarget ? "target" : ""} ${flagged || idle ? "flag" : ""}`}
      style={{ left: tile.x, top: tile.y, width: tile.width }}
      title={instances.length ? `${tile.name}: ${countsOf(instances)}` : `${tile.name}: no operator`}
      data-testid={`host-${tile.name}`}
      onClick={() => select({ host: tile.template })}
    >
      <b>
        <Icon name={flagged ? "warn" : "host"} small />
        <span className="ell">{tile.name}</span>
        {tile.more > 0 && <em>+{tile.more}</em>}
      </b>
      {instances.length ? (
        <span className="slots">
          {instances.slice(0, SLOTS_MAX).map((id, at) => (
            <i
              key={at}
              className={id === lit ? "hl" : ""}
              style={{ "--oc": colourOf(operators.findIndex((one) => one.id === id)) } as React.CSSProperties}
            />
          ))}
          {instances.length > SLOTS_MAX && <small>+{instances.length - SLOTS_MAX}</small>}
        </span>
      ) : (
        <small>{operators.length ? "idle" : "free"}</small>
      )}
    </button>
  );
}

function countsOf(instances: string[]): string {
  const counts = new Map<string, number>();
  for (const id of instances) counts.set(id, (counts.get(id) ?? 0) + 1);
  return [...counts].map(([id, count]) => (count > 1 ? `${count} × ${id}` : id)).join(", ");
}
