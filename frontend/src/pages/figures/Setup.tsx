import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { get, post } from "../../api/client";
import type { ExperimentDocument } from "../../api/document";
import type { Scale } from "../../api/figure";
import { registryQuery } from "../../api/queries";
import type { FigureDetail, Json, Kind, Registry, Validation } from "../../api/types";
import { coerceDocument } from "../../model/document/coerce";
import { svgOf } from "../../model/graph/picture";
import { Failure, Loading } from "../../ui/states";
import { useTheme } from "../../ui/theme";
import { themeColour } from "../../ui/themeColour";

/** What was measured on: the query of a study and its hosts, with the instances on each, as they are at this scale. */
export function Setup({
  figure,
  scale,
  study,
  onStudy,
}: {
  figure: FigureDetail;
  scale: Scale;
  study: string;
  onStudy: (study: string) => void;
}) {
  const studies = Object.keys(figure.document.studies ?? {});
  const { data: registry } = useQuery(registryQuery);
  const dark = useTheme((state) => state.dark);
  const { data, error, refetch } = useQuery({
    queryKey: ["set-up", figure.id, scale, study],
    queryFn: async ({ signal }) => {
      const of = `/api/figures/${figure.id}/studies/${encodeURIComponent(study)}?scale=${scale}`;
      const { document } = await get<{ document: { experiment: Json } }>(of, signal);
      const { placement, schemas } = await post<Validation>("/api/validate", { document: document.experiment }, signal);
      return { document: coerceDocument(document.experiment), placement, schemas };
    },
  });
  const picture = useMemo(
    () => (data && registry ? { ...pictureOf({ ...data, ...named(registry) }, dark), ...data } : null),
    [data, registry, dark],
  );
  return (
    <section className="card-of set-up" aria-label="Set-up" data-testid="set-up">
      <div className="ch">
        <h3>Set-up</h3>
        <span className="mut">query and hosts, at {scale} scale</span>
        {studies.length > 1 && (
          <select className="in" aria-label="Study" value={study} onChange={(event) => onStudy(event.target.value)}>
            {studies.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </div>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!error && (picture ? <img src={picture.address} alt={told(picture)} /> : <Loading />)}
    </section>
  );
}

const named = ({ operators = [], streams = [] }: Registry) => ({
  kinds: new Map<string, Kind>(operators.map((kind) => [kind.kind, kind])),
  streamTitles: new Map<string, string>(streams.map((kind) => [kind.kind, kind.title])),
});

/** dark: colours are read anew when it changes. */
function pictureOf(drawn: Parameters<typeof svgOf>[0], dark: boolean): { address: string; dark: boolean } {
  return { address: `data:image/svg+xml,${encodeURIComponent(svgOf(drawn, themeColour()).svg)}`, dark };
}

/** The picture in words: where the instances of each operator are. */
function told({ document, placement }: { document: ExperimentDocument; placement: Record<string, string[]> }): string {
  const places = document.query.operators.map(({ id }) => `${id} on ${[...new Set(placement[id] ?? [])].join(", ") || "no host"}`);
  return `${document.name}: ${places.join("; ")}`;
}
