import { useQuery } from "@tanstack/react-query";
import { presenceQuery } from "../../api/queries";
import { initials } from "../../lib/format";
import { PAGE } from "../../lib/page";
import { useWho } from "../../session/who";
import { useEditor } from "./editor";

const SHOWN_MAX = 4;

/** Who else has this experiment open, one circle for each person. */
export function Others() {
  const id = useEditor((state) => state.id);
  const me = useWho((state) => state.me?.name);
  const { data } = useQuery(presenceQuery(id));
  const others = (data ?? []).filter(({ editor }) => editor !== PAGE);
  const names = [...new Set(others.map(({ name }) => name))];
  if (!names.length) return null;
  const told = (name: string) => (name === me ? "You have this experiment open in another tab" : `${name} has this experiment open`);
  const more = names.slice(SHOWN_MAX);
  return (
    <ul className="others" aria-label="Also here" data-testid="others">
      {names.slice(0, SHOWN_MAX).map((name) => (
        <li key={name} className="who" title={told(name)}>
          <span aria-hidden="true">{initials(name)}</span>
          <span className="vh">{told(name)}</span>
        </li>
      ))}
      {more.length > 0 && (
        <li className="who" title={more.map(told).join("\n")}>
          <span aria-hidden="true">+{more.length}</span>
          <span className="vh">{more.map(told).join(", ")}</span>
        </li>
      )}
    </ul>
  );
}
