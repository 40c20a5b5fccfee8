import { useStore } from "zustand";
import { clock } from "../../lib/format";
import { isError, TONE_ICON, worstTone } from "../../model/document/validate";
import { runCommand } from "../../session/commands";
import { WriteButton } from "../../session/may";
import { useRefusal } from "../../session/who";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { TopBar } from "../../ui/TopBar";
import { SuggestButton } from "./advice/SuggestButton";
import { edit, isShown, redo, showHistory, undo, useEditor } from "./editor";
import type { ExperimentCommand } from "./experimentCommands";
import { Others } from "./Others";
import { RunButton } from "./RunButton";
import { StudyButton } from "./StudyButton";
import { useProblems } from "./useProblems";

/** The top bar of the canvas: name, saving, undo; problems, more, run. */
export function CanvasBar({ commands }: { commands: readonly ExperimentCommand[] }) {
  const refusal = useRefusal();
  const name = useEditor((state) => state.document.name);
  const past = useStore(useEditor.temporal, (state) => state.pastStates.length);
  const future = useStore(useEditor.temporal, (state) => state.futureStates.length);
  const historyOpen = useEditor((state) => isShown(state, "history"));
  const problems = useProblems();
  const errors = problems.filter(isError);
  const tone = worstTone(problems);
  return (
    <TopBar
      title={name}
      crumb={
        <>
          <input
            className="name"
            aria-label="Name of the experiment"
            value={name}
            placeholder="Name"
            disabled={refusal !== null}
            title={refusal ?? ""}
            aria-invalid={problems.some((problem) => problem.pointer === "/name")}
            onChange={(event) => edit((before) => ({ ...before, name: event.target.value }), "/name")}
          />
          <Saved />
          <span className="sep" />
          <button
            className="btn ghost icon"
            title={past ? `Undo (Ctrl+Z), ${past} steps` : "Nothing to undo"}
            aria-label="Undo"
            disabled={!past}
            onClick={undo}
          >
            <Icon name="undo" />
          </button>
          <button
            className="btn ghost icon"
            title={future ? `Redo (Ctrl+Shift+Z), ${future} steps` : "Nothing to redo"}
            aria-label="Redo"
            disabled={!future}
            onClick={redo}
          >
            <Icon name="redo" />
          </button>
          <button
            className="btn ghost icon"
            title={historyOpen ? "Close the history (H)" : "Show the history (H)"}
            aria-label="History"
            aria-pressed={historyOpen}
            onClick={() => showHistory(!historyOpen)}
          >
            <Icon name="clock" />
          </button>
          <Others />
        </>
      }
      actions={
        <>
          <button
            className="btn"
            title={tone === "todo" ? "Show what is missing" : tone ? "Show the problems" : "Checked by the server after every edit"}
            data-testid="problems-button"
            onClick={() => useEditor.setState({ drawer: "problems", drawerOpen: true })}
          >
            <Icon name={tone ? TONE_ICON[tone] : "checkc"} />
            {tone ? (
              <>
                {tone === "todo" ? "To do" : "Problems"} <span className={`cnt ${tone}`}>{problems.length}</span>
              </>
            ) : (
              "Valid"
            )}
          </button>
          <Menu title="More" label={<Icon name="dots" />}>
            {(close) => (
              <>
                {commands.map((command) => (
                  <WriteButton
                    key={command.does}
                    needs={command.needs ?? "read"}
                    onClick={() => {
                      close();
                      command.run();
                    }}
                  >
                    <Icon name={command.icon} />
                    {command.does}
                  </WriteButton>
                ))}
                <hr />
                <button
                  onClick={() => {
                    close();
                    runCommand("Find a command");
                  }}
                >
                  <Icon name="search" />
                  Commands<kbd>Ctrl+K</kbd>
                </button>
                <button
                  onClick={() => {
                    close();
                    runCommand("List the keys");
                  }}
                >
                  <Icon name="keyboard" />
                  Keys<kbd>?</kbd>
                </button>
              </>
            )}
          </Menu>
          <SuggestButton isMain />
          <StudyButton />
          <RunButton errors={errors} />
        </>
      }
    />
  );
}

function Saved() {
  const save = useEditor((state) => state.save);
  const at = useEditor((state) => state.savedAt);
  const words =
    save === "saved"
      ? at
        ? `Saved ${clock(at)}`
        : "Saved"
      : save === "conflict"
        ? "Conflict"
        : save === "failed"
          ? "Not saved"
          : "Saving";
  return (
    <span className={`saved ${save}`} data-testid="saved" data-state={save}>
      {save === "saved" ? <Icon name="check" small /> : save === "failed" || save === "conflict" ? <Icon name="warn" small /> : null}
      {words}
    </span>
  );
}
