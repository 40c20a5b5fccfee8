import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { post } from "../../../api/client";
import type { ExperimentDocument } from "../../../api/document";
import type { Advice, StudyDetail } from "../../../api/types";
import { plural } from "../../../lib/format";
import type { AdviceRow } from "../../../model/document/advice";
import { MEASURED_MAX, studyOf } from "../../../model/document/measuring";
import { MEASURED } from "../../../model/study/predicted";
import { WriteButton } from "../../../session/may";
import { Icon } from "../../../ui/Icon";
import { toast } from "../../../ui/toasts";
import { useEditor } from "../editor";

/** Runs the chosen candidates as a study, which keeps what was predicted of them. */
export function MeasureButton({
  asked,
  advice,
  chosen,
  isWaiting,
}: {
  /** The experiment that the advice is about. */
  asked: ExperimentDocument;
  advice: Advice;
  chosen: readonly AdviceRow[];
  isWaiting: boolean;
}) {
  const navigate = useNavigate();
  const experiment = useEditor((state) => state.id);
  const start = useMutation({
    mutationFn: () => post<StudyDetail>("/api/studies", { experiment, ...studyOf(asked, advice, chosen) }),
    onSuccess: (study) => void navigate(`/studies/${study.id}?metrics=${Object.values(MEASURED).join(",")}`),
    onError: (error) => toast(error.message, { tone: "err" }),
  });
  const why = isWaiting
    ? "Waiting for the new suggestions."
    : !chosen.length
      ? "Tick the placements to be run."
      : chosen.length > MEASURED_MAX
        ? `At most ${MEASURED_MAX} placements are run at once.`
        : start.isPending
          ? "Starting the study."
          : null;
  return (
    <WriteButton
      className="btn"
      data-testid="measure"
      disabled={why !== null}
      title={why ?? "Run each as this experiment, in a study that keeps what was predicted"}
      onClick={() => start.mutate()}
    >
      <Icon name="play" />
      {chosen.length ? `Measure ${plural(chosen.length, "placement")}` : "Measure"}
    </WriteButton>
  );
}
