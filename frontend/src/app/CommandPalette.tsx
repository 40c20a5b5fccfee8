import { useRef, useState } from "react";
import { found } from "../lib/search";
import { commandsNow, readable, refusalOf, type Command } from "../session/commands";
import { Dialog } from "../ui/Dialog";
import { Icon } from "../ui/Icon";
import { useFound } from "./useFound";

/** More are not listed; a longer search finds them. */
const SHOWN_MAX = 60;

const isRefused = (command: Command) => refusalOf(command) !== null;

/** Every command, and everything in the lab and in Help, by its words: type, choose with the arrows, Enter. */
export function CommandPalette({ onClose }: { onClose: () => void }) {
  const [commands] = useState(() => commandsNow().sort((a, b) => Number(isRefused(a)) - Number(isRefused(b))));
  const [search, setSearch] = useState("");
  const [chosen, setChosen] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const offered = search.trim() ? commands : commands.filter((command) => !command.onlyWhenSearched);
  const inLab = useFound(search);
  const matching = [...found(offered, search, (command) => `${command.does} ${command.group}`), ...inLab];
  const shown = matching.slice(0, SHOWN_MAX);
  const at = Math.min(chosen, shown.length - 1);
  const run = (command: Command | undefined) => {
    if (!command || isRefused(command)) return;
    onClose();
    // After the dialog has given the focus back, so that a command can move it.
    setTimeout(command.run);
  };
  const move = (to: number) => {
    setChosen(to);
    list.current?.children[to]?.scrollIntoView({ block: "nearest" });
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const last = shown.length - 1;
    const to = { ArrowDown: at >= last ? 0 : at + 1, ArrowUp: at <= 0 ? last : at - 1 }[event.key];
    if (to !== undefined) move(to);
    else if (event.key === "Enter") run(shown[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Search and commands" high onClose={onClose}>
      <label className="find">
        <Icon name="search" />
        <input
          data-autofocus
          role="combobox"
          aria-expanded="true"
          aria-controls="commands"
          aria-activedescendant={shown[at] ? `command-${at}` : undefined}
          aria-label="Search commands"
          placeholder="Search commands, experiments, runs, studies, figures, help"
          value={search}
          onChange={(event) => {
            setSearch(event.target.value);
            setChosen(0);
          }}
          onKeyDown={onKeyDown}
        />
      </label>
      <ul className="commands scroll" id="commands" role="listbox" aria-label="Commands" ref={list}>
        {shown.map((command, index) => {
          const why = refusalOf(command);
          return (
            <li
              key={`${command.group} ${command.does} ${index}`}
              id={`command-${index}`}
              role="option"
              aria-selected={index === at}
              aria-disabled={why !== null}
              onPointerMove={() => setChosen(index)}
              onClick={() => run(command)}
            >
              <span className="mut">{command.group}</span>
              <span className="ell">{command.does}</span>
              {why ? <small className="ell">{why}</small> : command.keys?.[0] && <kbd>{readable(command.keys[0])}</kbd>}
            </li>
          );
        })}
        {matching.length > shown.length && <li className="mut">and {matching.length - shown.length} more</li>}
      </ul>
      {!shown.length && <p className="mut small">Nothing matches “{search}”.</p>}
    </Dialog>
  );
}
