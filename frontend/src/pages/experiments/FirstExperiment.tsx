import { useQuery } from "@tanstack/react-query";
import { Navigate } from "react-router";
import { experimentsQuery } from "../../api/queries";
import { lastExperiment } from "../../session/lastExperiment";
import { Failure, Loading } from "../../ui/states";
import { TopBar } from "../../ui/TopBar";

/** `/` opens what was open last, else the first example. */
export function FirstExperiment() {
  const { data, error, refetch } = useQuery(experimentsQuery);
  if (data) {
    const last = data.find((row) => row.id === lastExperiment());
    const first = last ?? data.find((row) => row.example && /^NexMark Q3,/.test(row.name)) ?? data.find((row) => row.example) ?? data[0];
    return <Navigate replace to={first ? `/experiments/${first.id}` : "/templates"} />;
  }
  return (
    <div className="page">
      <TopBar title="Experiments" crumb={<b>Experiments</b>} />
      {error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />}
    </div>
  );
}
