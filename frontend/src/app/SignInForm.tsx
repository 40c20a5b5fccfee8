import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, post } from "../api/client";
import { Credentials, Remark } from "../ui/Credentials";
import { Icon } from "../ui/Icon";
import { useSignOnRefusal, waysQuery } from "./signOn";

/** Name and password of who has an account, with a code for who has a second factor; or the identity provider, if there is one. */
export function SignInForm({ onSignedIn }: { onSignedIn: () => void }) {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const [asksCode, setAsksCode] = useState(false);
  const { data: ways } = useQuery(waysQuery);
  const signIn = useMutation({
    mutationFn: () => post("/api/session", { name, password, code }),
    onSuccess: onSignedIn,
    onError: (error) => setAsksCode((asked) => asked || (error instanceof ApiError && (error.body as { needs?: string } | null)?.needs === "code")),
  });
  const away = useMutation({
    mutationFn: () => post<{ url: string }>("/api/session/sign-on", {}),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  const why = !(name.trim() && password) ? "Enter a name and a password" : asksCode && !code.trim() ? "Enter the code of your authenticator app" : "";
  const refused = useSignOnRefusal();
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!why) signIn.mutate();
      }}
    >
      {ways?.sign_on && (
        <>
          <button type="button" className="btn" disabled={away.isPending} onClick={() => away.mutate()}>
            <Icon name="lab" />
            Sign in with {ways.sign_on}
          </button>
          {(away.error ?? refused) && <Remark text={away.error?.message ?? refused ?? ""} />}
        </>
      )}
      <Credentials name={name} password={password} onName={setName} onPassword={setPassword} error={signIn.error} />
      {asksCode && (
        <div className="field">
          <label htmlFor="code">
            Code<i>of your authenticator app, or a recovery code</i>
          </label>
          <div className="in">
            <input
              id="code"
              autoComplete="one-time-code"
              inputMode="numeric"
              autoFocus
              value={code}
              maxLength={50}
              onChange={(event) => setCode(event.target.value)}
            />
          </div>
        </div>
      )}
      <button className="btn primary" disabled={Boolean(why) || signIn.isPending} title={why}>
        <Icon name="lock" />
        Sign in
      </button>
    </form>
  );
}
