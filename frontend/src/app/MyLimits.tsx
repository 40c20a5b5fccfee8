import { useQuery } from "@tanstack/react-query";
import { bytes } from "../lib/format";
import { limitsQuery, type Limits } from "../session/limits";
import { Dialog } from "../ui/Dialog";
import { Failure, Loading } from "../ui/states";
import { ofNumbers, TableHead } from "../ui/TableHead";

const WORDS: Record<keyof Limits, string> = {
  running: "Runs in progress",
  waiting: "Runs waiting",
  stored_bytes: "Stored in runs and data sets",
  requests: "Requests in this minute",
};

/** What the person has now, beside what the lab lets each person have. */
export function MyLimits({ onClose }: { onClose: () => void }) {
  const { data, error, refetch } = useQuery(limitsQuery);
  return (
    <Dialog title="Your limits" onClose={onClose}>
      {error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Loading lines={4} />
      ) : (
        <>
          <table className="table">
            <TableHead columns={["", ofNumbers("You have"), ofNumbers("Limit")]} />
            <tbody>
              {(Object.keys(WORDS) as (keyof Limits)[]).map((name) => (
                <tr key={name}>
                  <td>{WORDS[name]}</td>
                  <td className="num">{name === "requests" && data.limits.requests === null ? "not counted" : said(name, data.used[name])}</td>
                  <td className="num">{data.limits[name] === null ? "none" : said(name, data.limits[name])}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <p className="mut small">Owners set limits on the page Lab, People. Free workers serve people in turn.</p>
        </>
      )}
    </Dialog>
  );
}

const said = (name: keyof Limits, value: number) => (name === "stored_bytes" ? bytes(value) : value.toLocaleString("en-US"));
