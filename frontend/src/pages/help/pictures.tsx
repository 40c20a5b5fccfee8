/** Small drawings of what a kind does, 160 x 72; a kind without one gets its icon. Time runs to the right. */
import type { ReactNode } from "react";
import type { Kind } from "../../api/types";
import { Icon, iconOf } from "../../ui/Icon";
import { ICONS } from "../../ui/icons";

const line = (d: string, className = "") => <path className={`l ${className}`} d={d} />;
const dot = (x: number, y: number, className = "") => <circle key={`${x},${y}`} className={`d ${className}`} cx={x} cy={y} r="3" />;
const word = (x: number, y: number, text: string, className = "") => (
  <text key={`${text}${x}`} className={className} x={x} y={y}>
    {text}
  </text>
);

/** A value over time above an axis. */
const curve = (d: string, more?: ReactNode) => (
  <>
    {line("M12 8V60H152", "axis")}
    {more}
    {line(d, "main")}
  </>
);

/** A load that rises and falls, and the parallelism under it as a staircase; orders are given at these moments. */
const scaled = (staircase: string, orders: number[] = []) =>
  curve(
    staircase,
    <>
      {line("M12 52C46 52 50 20 82 20S118 48 152 48", "dashed")}
      {orders.map((x) => (
        <path key={x} className="l warn" d={`M${x} 56V64`} />
      ))}
    </>,
  );

/** Throughput is missing between these. */
const gap = (from: number, to: number) => line(`M${from} 8V60M${to} 8V60`, "dashed");

/** Moments on a line of time. */
const moments = (xs: number[], label = "") => (
  <>
    {line("M10 44H152", "axis")}
    {xs.map((x, at) => (
      <path key={at} className="l main" d={`M${x} 30V44`} />
    ))}
    {label && word(10, 62, label)}
  </>
);

/** Records are made above, at equal distances, and reach the log below after a delay each. */
const delays = (ms: number[]) => (
  <>
    {line("M10 16H152M10 58H152", "axis")}
    {ms.map((delay, at) => {
      const x = 16 + at * 16;
      return (
        <g key={at}>
          {line(`M${x} 16L${x + delay} 58`, "thin")}
          {dot(x, 16)}
          {dot(x + delay, 58, "main")}
        </g>
      );
    })}
  </>
);

/** Which of two senders feed which of three receivers. */
const partition = (pairs: [number, number][], senders = 2, receivers = 3) => (
  <>
    {pairs.map(([from, to]) => (
      <path key={`${from}${to}`} className="l main" d={`M44 ${rung(from, senders)}C80 ${rung(from, senders)} 80 ${rung(to, receivers)} 116 ${rung(to, receivers)}`} />
    ))}
    {Array.from({ length: senders }, (_, at) => box(20, rung(at, senders) - 7, 24, 14))}
    {Array.from({ length: receivers }, (_, at) => box(116, rung(at, receivers) - 7, 24, 14))}
  </>
);
const rung = (at: number, of: number) => 36 + (at - (of - 1) / 2) * 22;
const box = (x: number, y: number, width: number, height: number, className = "") => (
  <rect key={`${x},${y}`} className={`b ${className}`} x={x} y={y} width={width} height={height} rx="3" />
);
const square = (x: number, y: number, colour: number) => (
  <rect key={`${x},${y}`} x={x} y={y} width="10" height="10" rx="2" style={{ fill: `var(--s${colour})` }} />
);

/** Queries in the order in which they take the core at the right; the first stands next to it. */
const scheduled = (order: number[], more?: ReactNode) => (
  <>
    {order.map((query, at) => square(96 - at * 20, 31, query + 1))}
    {line("M14 50H124", "axis")}
    {box(132, 26, 20, 20, "main")}
    {more}
  </>
);

/** Threads at the left, cores at the right. */
const cores = (links: [thread: number, core: number][], core_count: number, thread_count = 4, className = "main") => (
  <>
    {links.map(([thread, core]) => (
      <path key={`${thread}${core}`} className={`l ${className}`} d={`M42 ${15 + thread * 14}L112 ${coreY(core, core_count)}`} />
    ))}
    {Array.from({ length: thread_count }, (_, at) => square(30, 10 + at * 14, at + 1))}
    {Array.from({ length: core_count }, (_, at) => box(112, coreY(at, core_count) - 8, 24, 16))}
  </>
);
const coreY = (at: number, of: number) => 36 + (at - (of - 1) / 2) * (of > 3 ? 16 : 24);

/** Three hosts, and the operators (by colour) on each. */
const placed = (hosts: number[][]) => (
  <>
    {hosts.map((colours, at) => (
      <g key={at}>
        {box(14 + at * 46, 18, 40, 36)}
        {colours.map((colour, slot) => square(18 + at * 46 + (slot % 3) * 12, 24 + Math.floor(slot / 3) * 13, colour))}
      </g>
    ))}
  </>
);

/** A queue before an operator: how many records wait, and where its bound is. */
const queue = (records: number, bound: number | null, more?: ReactNode) => (
  <>
    {box(8, 26, 22, 20)}
    {box(130, 26, 22, 20)}
    {line("M34 30H124M34 42H124", "axis")}
    {bound !== null && line(`M${124 - bound * 12} 24V48`, "warn")}
    {Array.from({ length: records }, (_, at) => dot(118 - at * 12, 36, "main"))}
    {more}
  </>
);

/** Two hosts and what is wrong with one of them or with the link. */
const hosts = (link: ReactNode, right: ReactNode = null, className = "") => (
  <>
    {box(14, 22, 36, 28)}
    {box(110, 22, 36, 28, className)}
    {link}
    {right}
  </>
);
const glyph = (x: number, y: number, name: keyof typeof ICONS, className: string) => (
  <g className={`i ${className}`} transform={`translate(${x - 8} ${y - 8})`}>
    {ICONS[name]}
  </g>
);
const LINK = line("M50 36H110", "main");

/** Records by event time (height) in the order of arrival, and the watermark as a staircase below them. */
const watermark = (d: string) => (
  <>
    {line("M10 64H152", "axis")}
    {[[16, 52], [28, 46], [40, 50], [52, 38], [64, 42], [76, 30], [88, 36], [100, 24], [112, 26], [124, 14], [136, 20]].map(([x, y]) =>
      dot(x as number, y as number),
    )}
    {d && line(d, "main")}
  </>
);

const LOG = (kept: number) => (
  <>
    {Array.from({ length: 9 }, (_, at) => box(10 + at * 16, 28, 13, 16, at < 9 - kept ? "gone" : ""))}
    {word(10, 62, "older")}
    {word(126, 62, "newer")}
  </>
);

/** Three instances over time, with the checkpoints that each takes: from the left, of the first, the second, the third. */
const lifelines = (checkpoints: number[][], more?: ReactNode) => (
  <>
    {line("M10 16H152M10 36H152M10 56H152", "axis")}
    {more}
    {checkpoints.map((xs, at) => xs.map((x) => box(x - 4, 10 + at * 20, 8, 12)))}
  </>
);

const density = (d: string) => (
  <>
    {line("M12 60H152", "axis")}
    {line(d, "main")}
  </>
);

/** How full a host's memory is, with its limit. */
const memory = (share: number, limit: boolean, more?: ReactNode) => (
  <>
    {box(14, 26, 132, 20)}
    <rect className="fill" x="15" y="27" width={130 * share} height="18" rx="2" />
    {limit && line("M124 20V52", "warn")}
    {more}
  </>
);

const PICTURES: { [path: string]: ReactNode } = {
  "rates/constant": curve("M12 34H152"),
  "rates/steps": curve("M30 60V46H66V24H104V38H152"),
  "rates/ramp": curve("M12 50H50L110 18H152"),
  "rates/cosine": curve("M12 36C24 8 36 8 47 36S70 64 82 36 106 8 117 36 140 64 152 36"),
  "rates/spikes": curve("M12 50H32V16H40V50H78V16H86V50H124V16H132V50H152"),
  "rates/increasing": curve("M12 58L24 52 36 54 48 44 60 46 72 38 84 40 96 28 108 32 120 20 132 24 152 12"),
  "rates/decreasing": curve("M12 14L24 18 36 16 48 26 60 24 72 34 84 32 96 42 108 40 120 50 132 48 152 56"),
  "rates/random_walk": curve(
    "M12 36H24V28H36V38H48V46H60V34H72V24H84V30H96V20H108V32H120V42H132V36H152",
    line("M12 16H152M12 52H152", "dashed"),
  ),
  "rates/switched": curve("M12 50H70V22H152", line("M70 14V58", "dashed")),
  "rates/file": curve("M12 40H34V22H58V48H90V30H118V44H152"),
  "rates/recorded": curve("M12 44L22 30 30 40 42 18 52 34 66 28 78 46 92 20 106 36 120 26 134 40 152 32"),
  "arrivals/even": moments([18, 34, 50, 66, 82, 98, 114, 130, 146]),
  "arrivals/poisson": moments([14, 19, 40, 46, 49, 77, 104, 109, 138]),
  "arrivals/gamma": moments([16, 28, 47, 60, 80, 92, 113, 126, 145]),
  "arrivals/bursts": moments([46, 48.5, 51, 53.5, 96, 98.5, 101, 103.5, 146, 148.5]),
  "disorders/switched": delays([4, 2, 5, 3, 28, 20, 30]),
  "disorders/none": delays([0, 0, 0, 0, 0, 0, 0]),
  "disorders/constant": delays([16, 16, 16, 16, 16, 16, 16]),
  "disorders/uniform": delays([6, 24, 14, 2, 20, 28, 10]),
  "disorders/exponential": delays([3, 6, 38, 2, 9, 4, 14]),
  "disorders/gamma": delays([12, 18, 22, 14, 26, 16, 19]),
  "disorders/lognormal": delays([8, 10, 44, 7, 12, 22, 9]),
  "disorders/zipf": delays([0, 8, 0, 24, 0, 8, 16]),
  "disorders/file": delays([10, 2, 26, 14, 6, 30, 18]),
  "watermarks/none": watermark(""),
  "watermarks/bounded": watermark("M22 62H34V58H58V50H82V42H106V36H130V26H150"),
  "watermarks/device": watermark("M16 62H40V54H64V46H88V40H112V30H136V24H150"),
  "retentions/all": LOG(9),
  "retentions/time": LOG(6),
  "snapshots/full": line("M20 62V22M48 62V20M76 62V18M104 62V16M132 62V14"),
  "snapshots/incremental": line("M20 62V22M48 62V52M76 62V48M104 62V54M132 62V14"),
  "generations/open": queue(7, null, line("M36 16H124M118 12L124 16 118 20", "thin")),
  "generations/coordinated": queue(1, null, line("M124 16H36M42 12L36 16 42 20", "thin")),
  "noises/none": density("M80 60V14"),
  "noises/exponential": density("M14 12C30 50 60 56 150 59"),
  "noises/lognormal": density("M14 60C30 60 36 14 50 14S80 56 150 59"),
  "noises/uniform": density("M40 60V28H120V60"),
  "drifts/none": curve("M12 34H152"),
  "drifts/ar1": curve("M12 34L24 28 34 36 44 30 56 20 66 26 78 34 88 46 98 42 108 36 118 28 130 34 140 40 152 34", line("M12 34H152", "dashed")),
  "warmups/none": curve("M12 40H152"),
  "warmups/records": curve("M12 14L70 46H152"),
  "warmups/time": curve("M12 14L90 46H152"),
  "slow_downs/none": curve("M12 50H152"),
  "slow_downs/points": curve("M12 52H50L90 38 120 16H152"),
  "slow_downs/klink": curve("M12 54H84C112 54 130 38 150 10"),
  "slow_downs/costream": curve("M12 54C90 54 122 48 128 10"),
  "partitionings/forward": partition([[0, 0], [1, 1], [2, 2]], 3),
  "partitionings/hash": partition([[0, 0], [0, 2], [1, 0], [1, 1]]),
  "partitionings/rebalance": partition([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]),
  "partitionings/rescale": partition([[0, 0], [0, 2], [1, 1]]),
  "partitionings/broadcast": (
    <>
      {partition([[0, 0], [0, 1], [0, 2]], 1)}
      {[0, 1, 2].map((at) => dot(104, rung(at, 3), "main"))}
    </>
  ),
  "processors/dedicated": cores([[0, 0], [1, 1], [2, 2], [3, 3]], 4),
  "processors/shared_fifo": cores([[0, 0], [1, 1], [2, 0], [3, 1]], 2),
  "processors/pool": (
    <>
      {line("M62 8V64M92 8V64", "axis")}
      {cores([], 2)}
      {[0, 1, 2, 3].map((at) => dot(77, 15 + at * 14, "main"))}
      {line("M92 24H112M92 48H112", "main")}
    </>
  ),
  "processors/processor_sharing": cores([[0, 0], [1, 0], [2, 0], [3, 0], [0, 1], [1, 1], [2, 1], [3, 1]], 2, 4, "thin"),
  "placements/spread": placed([[1, 2, 3], [1, 2, 3], [1, 2, 3]]),
  "placements/by_operator": placed([[1, 1, 1], [2, 2, 2], [3, 3, 3]]),
  "placements/staged": placed([[1, 3, 2], [2, 1, 3], [3, 2, 1]]),
  "placements/explicit": placed([[1, 1], [1, 2, 2, 2], [3, 3, 3]]),
  "flow_controls/unbounded": queue(7, null),
  "flow_controls/credits": queue(4, 4, line("M66 56H20V48M16 52L20 48 24 52", "thin")),
  "checkpointings/none": lifelines([], glyph(92, 36, "crossc", "warn")),
  "checkpointings/coordinated": lifelines([[30, 100], [48, 118], [66, 136]], line("M30 16L48 36L66 56M100 16L118 36L136 56", "main")),
  "checkpointings/uncoordinated": lifelines([[28, 104], [62, 128], [44, 90]], line("M70 16L80 36M94 36L112 56", "thin")),
  "checkpointings/hybrid": lifelines([[30, 100], [48, 118], [66, 128]], line("M30 16L48 36M100 16L118 36M78 36L96 56", "main")),
  "checkpointings/communication_induced": lifelines(
    [[28, 104], [62, 128], [44]],
    <>
      {line("M70 36L92 56", "thin")}
      {box(82, 50, 8, 12, "main")}
    </>,
  ),
  "scalings/none": scaled("M12 34H152"),
  "scalings/manual": scaled("M12 50H56V26H112V42H152", [56, 112]),
  "scalings/fixed": scaled("M12 14H152"),
  "scalings/oracle": scaled("M12 44H40V30H56V14H108V30H124V42H152"),
  "scalings/dhalion": scaled("M12 46H52V22H74V28H92V33H110V38H128V44H152"),
  "scalings/ds2": scaled("M12 46H50V20H70V14H114V34H130V42H152"),
  "scalings/hpa_cpu": scaled("M12 40H44V26H60V14H126V32H152"),
  "scalings/hpa_varga": scaled("M12 40H46V22H62V10H136V32H152"),
  "scalings/dhalion_heron": scaled("M12 46H60V18H152"),
  "scalings/ds2_original": scaled("M12 46H50V26H70V18H114V32H130V40H152"),
  "scalings/hpa_k8s": scaled("M12 44H52V38H64V32H76V26H88V20H134V32H152"),
  "scalings/varga_original": scaled("M12 44H52V34H64V24H76V14H140V28H152"),
  "scalings/flink": scaled("M12 44H36V36H48V26H58V14H106V24H116V34H126V42H152"),
  "rescalings/stop_and_restart": curve("M12 26H56V60H98V26H152", gap(56, 98)),
  "rescalings/in_place": curve("M12 26H66V42H84V26H152", gap(66, 84)),
  "schedulings/none": queue(5, null),
  "schedulings/default": cores([[0, 0], [1, 0], [2, 0], [3, 0], [0, 1], [1, 1], [2, 1], [3, 1]], 2, 4, "thin"),
  "schedulings/klink": scheduled([3, 1, 0, 2], line("M132 8V64", "warn")),
  "schedulings/fcfs": scheduled([0, 1, 2, 3]),
  "schedulings/round_robin": scheduled([1, 2, 3, 0], line("M20 60V12M16 16L20 12 24 16", "thin")),
  "schedulings/highest_rate": scheduled([2, 0, 3, 1], curve("M112 58L148 14")),
  "schedulings/srpt": scheduled([0, 2, 1, 3]),
  "schedulings/streambox": scheduled([2], line("M132 8V64", "warn")),
  "schedulings/switched": scheduled([0, 3, 1, 2], line("M92 8V64", "dashed")),
  "ingresses/read": memory(1, true, line("M2 36H12", "main")),
  "ingresses/throttle": memory(0.84, true, line("M6 26V46", "warn")),
  "ingresses/drop": memory(0.84, true, [6, 6].map((x, at) => dot(x, 58 + at * 8, "main"))),
  "memories/counted": memory(0.6, false),
  "memories/budget": memory(0.7, true),
  "memories/klink_2020": memory(0.84, true),
  "memories/costream_2024": (
    <>
      {memory(0.76, false)}
      {line("M96 20V52", "dashed")}
      {line("M132 20V52", "warn")}
    </>
  ),
  "faults/partition": hosts(line("M50 36H72M88 36H110", "main"), glyph(80, 36, "cross", "bad")),
  "faults/delay": hosts(line("M50 36C64 12 96 60 110 36", "main"), glyph(80, 14, "clock", "bad")),
  "faults/pause": hosts(LINK, glyph(128, 36, "pause", "bad")),
  "faults/slow_host": hosts(LINK, glyph(128, 37, "driver", "bad")),
  "faults/host_loss": hosts(LINK, glyph(128, 36, "cross", "bad"), "gone"),
  "occurrences/at": moments([80]),
  "occurrences/random": moments([24, 60, 68, 118, 140]),
};

/** An operator as the canvas draws it, with the names of its ports. */
function OperatorPicture({ kind }: { kind: Kind }) {
  const rows = Math.max(kind.inputs.length, kind.outputs.length, 1);
  const height = Math.max(72, rows * 15 + 26);
  const port = (at: number) => 30 + at * 15;
  return (
    <svg className="picture" viewBox={`0 0 260 ${height}`} role="img" aria-label={`${kind.title}: ports`}>
      {box(86, 6, 88, height - 12)}
      {line("M86 22H174", "axis")}
      <g className="i" transform="translate(92 8) scale(.75)">
        {ICONS[iconOf(kind.icon || kind.kind)]}
      </g>
      {word(108, 18, kind.title.length > 12 ? `${kind.title.slice(0, 11)}…` : kind.title, "strong")}
      {kind.inputs.map((name, at) => (
        <g key={name}>
          {line(`M60 ${port(at)}H86`, "main")}
          {dot(86, port(at), "main")}
          {word(56, port(at) + 3, name, "end")}
        </g>
      ))}
      {kind.outputs.map((name, at) => (
        <g key={name}>
          {line(`M174 ${port(at)}H200`, "main")}
          {dot(174, port(at), "main")}
          {word(204, port(at) + 3, name)}
        </g>
      ))}
    </svg>
  );
}

export function Picture({ family, kind }: { family: string; kind: Kind }) {
  if (family === "operators") return <OperatorPicture kind={kind} />;
  const drawing = PICTURES[`${family}/${kind.kind}`];
  if (drawing)
    return (
      <svg className="picture" viewBox="0 0 160 72" role="img" aria-label={`${kind.title}: ${kind.doc.split(/[.;:]/)[0] ?? ""}`}>
        {drawing}
      </svg>
    );
  return (
    <span className="picture plain">
      <Icon name={iconOf(kind.icon, family === "streams" ? "source" : "book")} />
    </span>
  );
}
