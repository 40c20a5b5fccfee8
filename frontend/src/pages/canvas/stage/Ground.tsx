import { plural } from "../../../lib/format";
import type { Hardware } from "../../../model/graph/hardware";
import { WriteButton } from "../../../session/may";
import { linkRegions, linkRegionsRefusal } from "../commands";
import { useEditor } from "../editor";
import { useRegistry } from "../useRegistry";

/** So far the water reaches beyond everything, px. */
const FAR = 200_000;

/** What the stage stands on: the water from the waterline down, what it stands for, and a word where nothing is drawn yet. */
export function Ground({ hardware }: { hardware: Hardware }) {
  const document = useEditor((state) => state.document);
  const { registry } = useRegistry();
  const chosen = document.policies?.engine as { kind?: string } | undefined;
  const engine = registry.engines?.find(({ kind }) => kind === chosen?.kind);
  return (
    <>
      <div
        className="water"
        style={{
          transform: `translate(${hardware.left - FAR}px, ${hardware.waterline}px)`,
          width: hardware.right - hardware.left + 2 * FAR,
          height: FAR,
        }}
      />
      <div className="lay" style={{ left: hardware.left, top: hardware.waterline + 14 }}>
        Hardware{" "}
        <span>
          {plural(
            hardware.groups.reduce((sum, group) => sum + group.hosts, 0),
            "host",
          )}
          , price list {engine?.price_list || (document.prices ?? "reference")}
        </span>
        {hardware.groups.length > 1 && (
          <WriteButton
            className="link nodrag nopan"
            disabled={linkRegionsRefusal() !== null}
            title={linkRegionsRefusal() ?? "Latency and bandwidth from region to region"}
            onClick={linkRegions}
          >
            Link regions
          </WriteButton>
        )}
      </div>
      {!document.query.operators.length && (
        <div className="hint" style={{ left: (hardware.left + hardware.right) / 2, top: hardware.top + 80 }}>
          <b>Draw a query.</b> Drag a source, then operators and a sink from the palette; connect them port to port.
        </div>
      )}
    </>
  );
}
