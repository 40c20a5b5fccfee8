import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { get } from "../../api/client";
import type { HotKeys as Found, Run } from "../../api/types";
import { plural } from "../../lib/format";
import { keysText, shareText } from "../../model/run/diagnosis";
import { Icon } from "../../ui/Icon";
import { Failure, Loading } from "../../ui/states";

/** The keys with the most records of an instance in a frame, each with its share; or a sentence that says why nobody can tell. */
export function HotKeys({ run, operator, index, at_s }: { run: Run; operator: string; index: number; at_s: number }) {
  const params = new URLSearchParams({ operator, index: String(index), at_s: String(at_s) });
  const { data, error, refetch } = useQuery({
    queryKey: ["keys", run.id, String(params)],
    queryFn: ({ signal }) => get<Found>(`/api/runs/${run.id}/keys?${params}`, signal),
    staleTime: Infinity,
    placeholderData: keepPreviousData,
    retry: false,
  });
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading lines={2} />;
  if (data.reason !== null)
    return (
      <p className="mut why">
        <Icon name="info" small />
        Hottest keys unavailable. {data.reason}
      </p>
    );
  return (
    <>
      <p className="mut">{keysText(data, `${operator}[${index}]`)}</p>
      {data.keys.length > 0 && (
        <ol className="hot-keys" aria-label={`Hottest keys of ${operator}[${index}]`}>
          {data.keys.map(({ key, records, share }) => (
            <li key={key} title={plural(records, "record")}>
              <code className="mono ell">{key}</code>
              <span className="bar">
                <i style={{ width: `${100 * share}%` }} />
              </span>
              <span>{shareText(share)}</span>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
