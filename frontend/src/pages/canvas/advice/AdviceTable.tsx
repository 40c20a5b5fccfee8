import { useMemo, useRef, useState } from "react";
import type { ExperimentDocument } from "../../../api/document";
import type { Advice } from "../../../api/types";
import { drawnHosts, fits, goalOf, isInPlace, rowsOf, RULES, type AdviceRow } from "../../../model/document/advice";
import { placeEach } from "../../../model/document/edits";
import { useRefusal } from "../../../session/who";
import { Icon } from "../../../ui/Icon";
import { TableHead, ofNumbers } from "../../../ui/TableHead";
import { useRoving } from "../../../ui/useRoving";
import { edit, useEditor } from "../editor";
import { MeasureButton } from "./MeasureButton";

const show = (row: AdviceRow) =>
  useEditor.setState({
    preview: {
      hosts: drawnHosts(row.hosts),
      label: `Preview of placement ${row.place}: ${row.predicted.join(" ")} predicted. Apply puts it into the experiment.`,
    },
  });
const showNone = () => useEditor.setState({ preview: null });

/** The candidates, best first. One tab stop: arrow keys move along the rows, Enter applies; the row at hand is drawn on the stage. */
export function AdviceTable({ asked, advice, isWaiting }: { asked: ExperimentDocument; advice: Advice; isWaiting: boolean }) {
  const rows = useMemo(() => rowsOf(advice), [advice]);
  const [chosen, setChosen] = useState<ReadonlySet<number>>(() => usuallyMeasured(rows));
  const choose = (number: number, on: boolean) => {
    const others = [...chosen].filter((one) => one !== number);
    setChosen(new Set(on ? [...others, number] : others));
  };
  const rules = ([2, 3] as const).filter((rule) => rows.some((row) => row.rule === rule));
  const body = useRef<HTMLTableSectionElement>(null);
  const [applied, setApplied] = useState("");
  const { onFocus, onKeyDown } = useRoving(body);
  const apply = (row: AdviceRow) => {
    edit((document) => placeEach(document, row.hosts));
    setApplied(`Placement ${row.place} is applied. Undo restores the one before.`);
  };
  return (
    <>
      <p className="vh" role="status">
        {applied}
      </p>
      <div className="measure">
        <MeasureButton asked={asked} advice={advice} chosen={rows.filter(({ number }) => chosen.has(number))} isWaiting={isWaiting} />
        <span className="mut small">Runs the ticked placements and compares them with the predictions.</span>
      </div>
      <table className={`table ${isWaiting ? "waiting" : ""}`} data-testid="advice-candidates">
        <TableHead columns={[ofNumbers("#"), goalOf(advice.goal).title, "Also predicted", "Placement"]} actions />
        <tbody ref={body} onFocus={onFocus} onKeyDown={onKeyDown}>
          {rows.map((row) => (
            <Row
              key={row.number}
              row={row}
              isWaiting={isWaiting}
              isChosen={chosen.has(row.number)}
              onChoose={(on) => choose(row.number, on)}
              onApply={() => apply(row)}
            />
          ))}
        </tbody>
      </table>
      {rules.map((rule) => (
        <p key={rule} className="rule mut small">
          Rule {rule}: {RULES[rule]}.
        </p>
      ))}
    </>
  );
}

/** The best ones and the present one, to compare with. */
const USUALLY_MEASURED = 4;
const usuallyMeasured = (rows: readonly AdviceRow[]) =>
  new Set(rows.filter(({ isPresent, rank }) => isPresent || (rank !== null && rank <= USUALLY_MEASURED)).map(({ number }) => number));

function Row({
  row,
  isWaiting,
  isChosen,
  onChoose,
  onApply,
}: {
  row: AdviceRow;
  isWaiting: boolean;
  isChosen: boolean;
  onChoose: (on: boolean) => void;
  onApply: () => void;
}) {
  const inPlace = useEditor((state) => isInPlace(row.hosts, state.placement));
  const isApplicable = useEditor((state) => fits(row.hosts, state.document));
  const refusal = useRefusal();
  const why =
    refusal ??
    (isWaiting
      ? "Waiting for the new suggestions."
      : !isApplicable
        ? "Operators or hosts have changed since. Suggest again first."
        : inPlace
          ? "The operators stand like this already."
          : null);
  const placed = row.isPresent ? "In place" : "Applied";
  return (
    <tr
      className={`${row.filtered ? "filtered" : ""} ${inPlace ? "in-place" : ""}`}
      data-testid={`candidate-${row.place}`}
      data-in-place={inPlace}
      onPointerEnter={() => show(row)}
      onPointerLeave={showNone}
      onFocus={() => show(row)}
      onBlur={showNone}
    >
      <td className="num">
        <label title="Measure this placement">
          <input
            type="checkbox"
            checked={isChosen}
            aria-label={`Measure placement ${row.place}`}
            onChange={(event) => onChoose(event.target.checked)}
          />
          {row.rank ?? "–"}
        </label>
      </td>
      <td>
        <b>{row.predicted[0]}</b> <span className="unit">{row.predicted[1]}</span>
        {row.range && <small title="From the lowest to the highest prediction of the models">{row.range}</small>}
        {row.compared && <small title="Compared with the prediction for the present placement">{row.compared}</small>}
      </td>
      <td>
        {row.others.map((text) => (
          <small key={text}>{text}</small>
        ))}
        {row.votes.map((text) => (
          <small key={text}>{text}</small>
        ))}
      </td>
      <td title={row.told}>
        {row.used}
        {row.isPresent ? (
          <small>
            <b title="The placement that the experiment had when it was asked about">{inPlace ? "present" : "as before"}</b>
          </small>
        ) : (
          <small>{row.origin}</small>
        )}
        {row.filtered && (
          <small className="why">
            <Icon name="warn" small />
            {row.filtered}
          </small>
        )}
        {row.rule && (
          <small className="why" title={`Rule ${row.rule}: ${RULES[row.rule]}`}>
            <Icon name="warn" small />
            breaks rule {row.rule}
          </small>
        )}
        <span className="vh">: {row.told}</span>
      </td>
      <td>
        <button
          className="btn"
          aria-label={inPlace ? `${placed}: placement ${row.place}` : `Apply placement ${row.place}`}
          aria-disabled={why !== null}
          title={why ?? "Put this placement into the experiment (Enter)"}
          onClick={() => {
            if (why === null) onApply();
          }}
        >
          {inPlace ? placed : "Apply"}
        </button>
      </td>
    </tr>
  );
}
