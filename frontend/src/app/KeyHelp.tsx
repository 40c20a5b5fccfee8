import { commandsNow, readable, type Command } from "../session/commands";
import { Dialog } from "../ui/Dialog";

/** What the browser and the canvas do by themselves. */
const EVERYWHERE: Command[] = [
  { group: "Everywhere", does: "Next operator, edge or control", keys: ["Tab"], run: () => undefined },
  { group: "Everywhere", does: "Select or press", keys: ["Enter"], run: () => undefined },
  { group: "Everywhere", does: "Move the selected operator, or a fault's bar or end", keys: ["Arrows"], run: () => undefined },
  { group: "Everywhere", does: "The same in larger steps", keys: ["Shift+Arrows"], run: () => undefined },
];

/** The list of keys, drawn from the same commands that the keyboard obeys. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  const commands = [...commandsNow(), ...EVERYWHERE].filter((command) => command.keys?.length);
  const groups = [...new Set(commands.map((command) => command.group))];
  return (
    <Dialog title="Keys" wide onClose={onClose}>
      {groups.map((group) => (
        <section key={group}>
          <h3 className="small">{group}</h3>
          <dl className="keys">
            {commands
              .filter((command) => command.group === group)
              .map((command) => (
                <div key={command.does}>
                  <dt>
                    {command.keys?.map((key) => (
                      <kbd key={key}>{readable(key)}</kbd>
                    ))}
                  </dt>
                  <dd>{command.does}</dd>
                </div>
              ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
