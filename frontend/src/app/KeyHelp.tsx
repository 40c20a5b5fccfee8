import { Dialog } from "../ui/Dialog";

export interface KeyEntry {
  keys: string;
  does: string;
}

const EVERYWHERE: KeyEntry[] = [
  { keys: "?", does: "This list" },
  { keys: "Tab", does: "Next operator, edge or control" },
  { keys: "Enter", does: "Select or press" },
  { keys: "Arrows", does: "Move the selected operator, or a fault's bar or end" },
  { keys: "Shift+Arrows", does: "The same in larger steps" },
];

/** One list of keys, drawn from the same entries that the listener obeys. */
export function KeyHelp({ commands, onClose }: { commands: KeyEntry[]; onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys">
        {[...commands, ...EVERYWHERE].map((command) => (
          <div key={command.keys}>
            <dt>
              <kbd>{command.keys}</kbd>
            </dt>
            <dd>{command.does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
