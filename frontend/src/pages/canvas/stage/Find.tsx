import { useEffect, useMemo, useRef, useState } from "react";
import type { ExperimentDocument } from "../../../api/document";
import { plural } from "../../../lib/format";
import { found } from "../../../lib/search";
import { edgeKey } from "../../../model/document/document";
import { summariseHosts, hostNames } from "../../../model/document/hosts";
import { endsOf, limitsOf, regionLinksOf, regionOf } from "../../../model/document/regions";
import { partitioningLabel } from "../../../model/graph/graph";
import { Icon } from "../../../ui/Icon";
import { reveal, select, selectRegionLink, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";

interface Thing {
  key: string;
  text: string;
  show: () => void;
}

/** More are counted, but not listed. */
const LISTED_MAX = 7;

function thingsOf(document: ExperimentDocument, titleOf: (kind: string) => string): Thing[] {
  const { operators, edges } = document.query;
  return [
    ...operators.map((operator) => ({
      key: operator.id,
      text: `${operator.id}, ${titleOf(operator.kind)}`,
      show: () => {
        select({ operators: [operator.id] });
        reveal([operator.id]);
      },
    })),
    ...edges.map((edge) => ({
      key: edgeKey(edge),
      text: `${edge.source} → ${edge.target}, ${partitioningLabel(edge.partitioning)}`,
      show: () => {
        select({ edges: [edgeKey(edge)] });
        reveal([edge.source, edge.target]);
      },
    })),
    ...document.cluster.hosts.map((host, index) => ({
      key: `host ${index}`,
      text: `${summariseHosts(hostNames(host).slice(0, 1000))}, host, ${regionOf(host)}`,
      show: () => {
        select({ host: index });
        reveal([`hosts ${regionOf(host)}`]);
      },
    })),
    ...regionLinksOf(document).map((link, index) => ({
      key: `region link ${index}`,
      text: `${endsOf(link)}, region link, ${limitsOf(link)}`,
      show: () => selectRegionLink(index),
    })),
  ];
}

/** Searches operators, edges, hosts and links between regions; Enter and Shift+Enter go through what was found. */
export function Find() {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const ask = () => setOpen(true);
    window.addEventListener("millrace:find", ask);
    return () => window.removeEventListener("millrace:find", ask);
  }, []);
  return open ? <FindBar onClose={() => setOpen(false)} /> : null;
}

function FindBar({ onClose }: { onClose: () => void }) {
  const document = useEditor((state) => state.document);
  const { kinds } = useRegistry();
  const [search, setSearch] = useState("");
  const [at, setAt] = useState(-1);
  const field = useRef<HTMLInputElement>(null);
  const matching = useMemo(() => {
    const things = search.trim() ? thingsOf(document, (kind) => kinds.get(kind)?.title ?? kind) : [];
    return found(things, search, (thing) => thing.text);
  }, [document, kinds, search]);
  useEffect(() => {
    const again = () => field.current?.select();
    again();
    window.addEventListener("millrace:find", again);
    return () => window.removeEventListener("millrace:find", again);
  }, []);
  const go = (to: number) => {
    if (!matching.length) return;
    const index = (to + matching.length) % matching.length;
    setAt(index);
    matching[index]?.show();
  };
  const first = Math.max(0, Math.min(at - 3, matching.length - LISTED_MAX));
  return (
    <search className="find-bar" data-testid="find">
      <div className="find">
        <Icon name="search" />
        <input
          ref={field}
          aria-label="Find on the canvas"
          placeholder="Find operators, edges, hosts"
          value={search}
          onChange={(event) => {
            setSearch(event.target.value);
            setAt(-1);
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter") go(event.shiftKey ? at - 1 : at + 1);
            else if (event.key === "ArrowDown") go(at + 1);
            else if (event.key === "ArrowUp") go(at < 0 ? -1 : at - 1);
            else if (event.key === "Escape") onClose();
            else return;
            event.preventDefault();
          }}
        />
        <small role="status">{search.trim() ? (at < 0 ? plural(matching.length, "match", "matches") : `${at + 1} of ${matching.length}`) : ""}</small>
        <button className="btn ghost icon" aria-label="Close the search" onClick={onClose}>
          <Icon name="cross" small />
        </button>
      </div>
      {matching.length > 0 && (
        <ul>
          {matching.slice(first, first + LISTED_MAX).map((thing, index) => (
            <li key={thing.key}>
              <button className={first + index === at ? "on" : ""} onClick={() => go(first + index)}>
                <span className="ell">{thing.text}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </search>
  );
}
