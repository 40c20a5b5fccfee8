import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { post } from "../api/client";
import { Credentials } from "../ui/Credentials";
import { Icon } from "../ui/Icon";

/** Name and password of who has an account. */
export function SignInForm({ onSignedIn }: { onSignedIn: () => void }) {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const signIn = useMutation({ mutationFn: () => post("/api/session", { name, password }), onSuccess: onSignedIn });
  const why = name.trim() && password ? "" : "Enter a name and a password";
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!why) signIn.mutate();
      }}
    >
      <Credentials name={name} password={password} onName={setName} onPassword={setPassword} error={signIn.error} />
      <button className="btn primary" disabled={Boolean(why) || signIn.isPending} title={why}>
        <Icon name="lock" />
        Sign in
      </button>
    </form>
  );
}
