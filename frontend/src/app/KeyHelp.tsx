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

function keysByCommand(entries: KeyEntry[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { does, keys } of entries) found.set(does, [...(found.get(does) ?? []), keys]);
  return found;
}

/** One list of keys, drawn from the same entries that the listener obeys. */
export function KeyHelp({ commands, onClose }: { commands: KeyEntry[]; onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys">
        {[...keysByCommand([...commands, ...EVERYWHERE])].map(([does, keys]) => (
          <div key={does}>
            <dt>
              {keys.map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
