import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link, useSearchParams } from "react-router";
import { post, remove } from "../../api/client";
import type { Role } from "../../api/types";
import { when } from "../../lib/format";
import { Credentials, Remark } from "../../ui/Credentials";
import { Icon, Logo } from "../../ui/Icon";
import { Loading } from "../../ui/states";

interface Welcome {
  lab: string;
  role: Role;
  invited_by: string | null;
  expires_at: string;
  you: string | null;
  member: boolean;
  confined: boolean;
}

/** Where an invitation leads: a new account, or the lab for who has one already. */
export function JoinPage() {
  const [params] = useSearchParams();
  const token = params.get("token") ?? "";
  const { data, error, refetch } = useQuery({
    queryKey: ["join", token],
    queryFn: () => post<Welcome>("/api/join", { token }),
    retry: false,
    staleTime: Infinity,
  });
  useEffect(() => {
    document.title = "Join · Millrace";
  }, []);
  return (
    <main className="signed-out">
      <div className="panel">
        <span className="word">
          <Logo />
          Millrace
        </span>
        {error ? (
          <>
            <h1>This invitation is not valid</h1>
            <Remark text={error.message} />
            <Link className="btn" to="/">
              Open the lab
            </Link>
          </>
        ) : !data ? (
          <Loading lines={3} />
        ) : (
          <>
            <h1>Join {data.lab}</h1>
            <p>
              {data.invited_by ?? "An owner"} invites you as <b>{data.role}</b>. The invitation is for one person, until {when(data.expires_at)}.
            </p>
            {data.you ? (
              <WithAccount token={token} welcome={data} you={data.you} onSignedOut={() => void refetch()} />
            ) : (
              <NewAccount token={token} />
            )}
          </>
        )}
      </div>
    </main>
  );
}

/** The page is loaded anew, so that all of it knows who is there. */
const enter = () => window.location.assign("/");

function NewAccount({ token }: { token: string }) {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const join = useMutation({ mutationFn: () => post("/api/join/account", { token, name, password }), onSuccess: enter });
  const why = name.trim() && password ? "" : "Enter a name and a password first";
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!why) join.mutate();
      }}
    >
      <Credentials fresh name={name} password={password} onName={setName} onPassword={setPassword} error={join.error} />
      <button className="btn primary" disabled={Boolean(why) || join.isPending} title={why}>
        <Icon name="check" />
        Join
      </button>
      <p className="mut small">Already have an account? Sign in first, then open the link again.</p>
    </form>
  );
}

/** A session that an owner's link has opened may not join: that owner could do it in the person's place. */
const CONFINED = "An owner's link has signed you in. To join another lab, sign in with your password.";

function WithAccount({ token, welcome, you, onSignedOut }: { token: string; welcome: Welcome; you: string; onSignedOut: () => void }) {
  const { member, confined } = welcome;
  const join = useMutation({ mutationFn: () => post("/api/join/accept", { token }), onSuccess: enter });
  const signOut = useMutation({ mutationFn: () => remove("/api/session"), onSuccess: onSignedOut });
  return (
    <>
      <p>
        You are signed in as <b>{you}</b>
        {member ? `, already a member of ${welcome.lab}. To join as someone else, sign out first.` : "."}
      </p>
      {confined && !member && <Remark text={CONFINED} />}
      {(join.error ?? signOut.error) && <Remark text={(join.error ?? signOut.error)?.message ?? ""} />}
      <span className="two">
        <button className="btn" disabled={signOut.isPending} onClick={() => signOut.mutate()}>
          Sign out
        </button>
        {member ? (
          <Link className="btn" to="/">
            Open the lab
          </Link>
        ) : (
          <button className="btn primary" disabled={confined || join.isPending} title={confined ? CONFINED : ""} onClick={() => join.mutate()}>
            Join as {you}
          </button>
        )}
      </span>
    </>
  );
}
