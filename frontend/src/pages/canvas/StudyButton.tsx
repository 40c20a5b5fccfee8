import { useNavigate } from "react-router";
import { WriteButton } from "../../session/may";
import { Icon } from "../../ui/Icon";
import { useEditor } from "./editor";
import { saveNow } from "./useServer";

/** To a study of this experiment, as it is now. */
export function StudyButton() {
  const navigate = useNavigate();
  const id = useEditor((state) => state.id);
  const study = async () => {
    await saveNow();
    void navigate(`/studies/new?experiment=${id}`);
  };
  return (
    <WriteButton
      className="btn"
      data-command="study"
      data-testid="study"
      title="Study this experiment: vary fields, repeat with seeds, search for the highest load it sustains (Ctrl+Shift+Enter)"
      onClick={() => void study()}
    >
      <Icon name="studies" />
      Study
    </WriteButton>
  );
}
