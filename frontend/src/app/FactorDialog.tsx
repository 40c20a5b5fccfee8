import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { get, post, put } from "../api/client";
import type { Factor, NewFactor } from "../api/generated";
import { plural } from "../lib/format";
import { Remark } from "../ui/Credentials";
import { Dialog } from "../ui/Dialog";
import { Failure, Loading } from "../ui/states";
import { toast } from "../ui/toasts";
import { waysQuery } from "./signOn";

/** How the person signs in: with a second factor, and through the identity provider. */
export function FactorDialog({ onClose }: { onClose: () => void }) {
  const { data, error, refetch } = useQuery({ queryKey: ["factor"], queryFn: () => get<Factor>("/api/session/factor"), staleTime: 0 });
  return (
    <Dialog title="Signing in" onClose={onClose}>
      {error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Loading lines={4} />
      ) : (
        <div className="stack">
          {data.active ? <Active codesLeft={data.codes_left} /> : <Inactive />}
          {data.connected !== null && <Provider connected={data.connected} />}
        </div>
      )}
    </Dialog>
  );
}

function Inactive() {
  const client = useQueryClient();
  const [code, setCode] = useState("");
  const begin = useMutation({ mutationFn: () => post<NewFactor>("/api/session/factor/secret", {}) });
  const activate = useMutation({
    mutationFn: () => put<{ recovery_codes: string[] }>("/api/session/factor", { code }),
    onSuccess: () => toast("Your second factor is active."),
  });
  if (activate.data)
    return (
      <>
        <p>
          <b>Keep these recovery codes.</b> Each signs you in once without the app. They are not shown again.
        </p>
        <pre className="mono" aria-label="Recovery codes">
          {activate.data.recovery_codes.join("\n")}
        </pre>
        <button className="btn primary" onClick={() => void client.invalidateQueries({ queryKey: ["factor"] })}>
          I have kept them
        </button>
      </>
    );
  if (!begin.data)
    return (
      <>
        <p>With a second factor, signing in with your password also needs a code of an authenticator app on your phone.</p>
        {begin.error && <Remark text={begin.error.message} />}
        <button className="btn primary" disabled={begin.isPending} onClick={() => begin.mutate()}>
          Set up a second factor
        </button>
      </>
    );
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (code.trim()) activate.mutate();
      }}
    >
      <p>Scan this with the app, or type the key {begin.data.secret.match(/.{1,4}/g)?.join(" ")}.</p>
      <QrCode rows={begin.data.code} label={begin.data.address} />
      <CodeField code={code} onCode={setCode} />
      {activate.error && <Remark text={activate.error.message} />}
      <button className="btn primary" disabled={!code.trim() || activate.isPending} title={code.trim() ? "" : "Enter the code that the app shows"}>
        Activate
      </button>
    </form>
  );
}

function Active({ codesLeft }: { codesLeft: number }) {
  const client = useQueryClient();
  const [code, setCode] = useState("");
  const off = useMutation({
    mutationFn: () => post("/api/session/factor/off", { code }),
    onSuccess: () => {
      toast("Your second factor is off.");
      void client.invalidateQueries({ queryKey: ["factor"] });
    },
  });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        off.mutate();
      }}
    >
      <p>
        Your second factor is active, with {plural(codesLeft, "unused recovery code")}. To turn it off, enter a code; after a sign-in by link none is needed.
      </p>
      <CodeField code={code} onCode={setCode} />
      {off.error && <Remark text={off.error.message} />}
      <button className="btn danger" disabled={off.isPending}>
        Turn off
      </button>
    </form>
  );
}

function Provider({ connected }: { connected: boolean }) {
  const { data } = useQuery(waysQuery);
  const connect = useMutation({
    mutationFn: () => post<{ url: string }>("/api/session/sign-on", { connect: true }),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  if (!data?.sign_on) return null;
  if (connected) return <p className="mut">Your account of {data.sign_on} also signs you in.</p>;
  return (
    <>
      {connect.error && <Remark text={connect.error.message} />}
      <button className="btn" disabled={connect.isPending} onClick={() => connect.mutate()}>
        Connect your account of {data.sign_on}
      </button>
    </>
  );
}

function CodeField({ code, onCode }: { code: string; onCode: (code: string) => void }) {
  return (
    <div className="field">
      <label htmlFor="factor-code">Code</label>
      <div className="in">
        <input
          id="factor-code"
          autoComplete="one-time-code"
          inputMode="numeric"
          maxLength={50}
          value={code}
          onChange={(event) => onCode(event.target.value)}
        />
      </div>
    </div>
  );
}

/** Black on white in every theme: cameras expect it. */
function QrCode({ rows, label }: { rows: string[]; label: string }) {
  const path = rows.flatMap((row, y) => [...row].flatMap((dark, x) => (dark === "1" ? [`M${x} ${y}h1v1h-1z`] : []))).join("");
  return (
    <svg className="qr" viewBox={`0 0 ${rows.length} ${rows.length}`} width="200" height="200" role="img" aria-label={`QR code of ${label}`}>
      <rect width="100%" height="100%" fill="#fff" />
      <path d={path} fill="#000" shapeRendering="crispEdges" />
    </svg>
  );
}
