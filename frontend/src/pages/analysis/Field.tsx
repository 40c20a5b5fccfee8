import { useId, type ReactNode } from "react";
import type { Problem } from "../../api/types";
import { Remark } from "../../ui/Credentials";

interface Labelled {
  label: string;
  about: string;
  problem?: Problem | undefined;
  children: (id: string) => ReactNode;
}

/** A field of the form; the problem is that of the server. */
export function Field({ label, about, problem, children }: Labelled) {
  const id = useId();
  return (
    <div className={`field ${problem ? "err" : ""}`}>
      <label htmlFor={id}>
        {label}
        <i>{about}</i>
      </label>
      <div className="in">{children(id)}</div>
      {problem && <Remark text={problem.message} />}
    </div>
  );
}
