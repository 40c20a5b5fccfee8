import { ApiError } from "../api/client";
import { Icon } from "./Icon";

const NAME_LENGTH_MAX = 50;
const PASSWORD_LENGTH_MAX = 200;

/** The fields for a name and a password; what the server objects to stands at its field, or below both. */
export function Credentials({
  name,
  password,
  onName,
  onPassword,
  fresh = false,
  error,
}: {
  name: string;
  password: string;
  onName: (name: string) => void;
  onPassword: (password: string) => void;
  /** They are chosen now, not known already. */
  fresh?: boolean;
  error: Error | null;
}) {
  const problems = error instanceof ApiError ? error.problems : [];
  const at = (field: string) => problems.filter((problem) => problem.pointer === field).map((problem) => problem.message);
  return (
    <>
      <Field id="name" label="Name" remarks={at("/name")}>
        <input
          id="name"
          autoComplete="username"
          autoFocus
          value={name}
          maxLength={NAME_LENGTH_MAX}
          onChange={(event) => onName(event.target.value)}
        />
      </Field>
      <Field id="password" label="Password" hint={fresh ? "at least 10 characters" : ""} remarks={at("/password")}>
        <input
          id="password"
          type="password"
          autoComplete={fresh ? "new-password" : "current-password"}
          value={password}
          maxLength={PASSWORD_LENGTH_MAX}
          onChange={(event) => onPassword(event.target.value)}
        />
      </Field>
      {error && !problems.length && <Remark text={error.message} />}
    </>
  );
}

function Field({ id, label, hint = "", remarks, children }: { id: string; label: string; hint?: string; remarks: string[]; children: React.ReactNode }) {
  return (
    <div className={`field ${remarks.length ? "err" : ""}`}>
      <label htmlFor={id}>
        {label}
        <i>{hint}</i>
      </label>
      <div className="in">{children}</div>
      {remarks.map((text) => (
        <Remark key={text} text={text} />
      ))}
    </div>
  );
}

export function Remark({ text }: { text: string }) {
  return (
    <p className="remark err" role="alert">
      <Icon name="crossc" small />
      <span>{text}</span>
    </p>
  );
}
