import { endsOf, limitsOf, regionLinksOf } from "../../../model/document/regions";
import { problemsByPart, TONE_ICON, worstTone } from "../../../model/document/validate";
import type { RegionWay } from "../../../model/graph/regionLinks";
import { Icon } from "../../../ui/Icon";
import { select, useEditor } from "../editor";

/** The links between regions below their frames, each with its latency and bandwidth; the label is what one clicks. */
export function RegionLinks({ ways }: { ways: RegionWay[] }) {
  const selected = useEditor((state) => state.selection.regionLink);
  return (
    <>
      <svg className="region-links" aria-hidden="true">
        {ways.map(({ index, path, heads }) => (
          <path key={index} className={index === selected ? "selected" : ""} d={path + heads} />
        ))}
      </svg>
      {ways.map(({ index, x, y }) => (
        <RegionLinkLabel key={index} index={index} at={{ x, y }} />
      ))}
    </>
  );
}

/** at: its middle on the stage; not given where it stands in a line. */
export function RegionLinkLabel({ index, at }: { index: number; at?: { x: number; y: number } }) {
  const document = useEditor((state) => state.document);
  const problems = useEditor((state) => state.problems);
  const isSelected = useEditor((state) => state.selection.regionLink === index);
  const link = regionLinksOf(document)[index];
  if (!link) return null;
  const own = problemsByPart(problems, document).regionLinks.get(index) ?? [];
  const tone = worstTone(own);
  const limits = limitsOf(link) || "not set";
  return (
    <button
      className={`elab nodrag nopan ${at ? "" : "within"} ${isSelected ? "selected" : ""} ${tone}`}
      style={at && { transform: `translate(-50%, -50%) translate(${at.x}px, ${at.y}px)` }}
      data-testid={`region-link-${index}`}
      aria-label={`Link ${endsOf(link)}: ${limits}. ${own[0]?.message ?? ""}`}
      onClick={() => select({ regionLink: index })}
    >
      {tone && <Icon name={TONE_ICON[tone]} small />}
      {at ? limits : `${limits} within`}
    </button>
  );
}
