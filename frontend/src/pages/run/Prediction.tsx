import type { SparkPrediction } from "../../api/types";
import { short } from "../../lib/format";
import { isNear, measuresOf, offBy } from "../../model/run/predictions";
import { Icon } from "../../ui/Icon";
import { ofNumbers, TableHead } from "../../ui/TableHead";

/** How fast the model said that Spark would be, before Spark began, and how fast it was. */
export function Prediction({ prediction, paced, onCalibrate }: { prediction: SparkPrediction; paced: boolean; onCalibrate: () => void }) {
  const { predicted, measured, why_not, made, said } = prediction;
  if (!predicted)
    return (
      <p className="about mut" data-testid="spark-prediction">
        <span>
          No speed was predicted: {why_not}.{" "}
          {!made && (
            <button className="btn" onClick={onCalibrate}>
              Calibrate this machine
            </button>
          )}
        </span>
      </p>
    );
  return (
    <section aria-label="Predicted speed" data-testid="spark-prediction">
      <table className="table">
        <TableHead columns={["Speed", ofNumbers("Predicted"), ofNumbers("Measured"), "Predicted is"]} />
        <tbody>
          {measuresOf(prediction, paced).map(({ name, unit, about, predicted, measured }) => (
            <tr key={name}>
              <td title={about}>{name}</td>
              <td className="num">
                {short(predicted)} {unit}
              </td>
              <td className="num">{measured === null ? "–" : `${short(measured)} ${unit}`}</td>
              <td>
                {measured !== null && (
                  <span className={`badge ${isNear(predicted, measured) ? "ok" : "warn"}`}>{offBy(predicted, measured)}</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="about mut">
        {measured
          ? `Half of ${measured.batches} micro-batches took ${short(measured.low_ms)} to ${short(measured.high_ms)} ms; the first ones, in which Java still compiles, do not count. Calibrated on ${made}.`
          : `By the model, before Spark began. Calibrated on ${made}.`}
      </p>
      {said.map((sentence) => (
        <p className="about" key={sentence}>
          <Icon name="warn" small />
          {sentence.replace(/^./, (first) => first.toUpperCase())}.
        </p>
      ))}
    </section>
  );
}
