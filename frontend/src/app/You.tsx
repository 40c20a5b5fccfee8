import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { createPortal } from "react-dom";
import { put, remove } from "../api/client";
import type { Me } from "../api/types";
import { initials } from "../lib/format";
import { Remark } from "../ui/Credentials";
import { Dialog } from "../ui/Dialog";
import { Icon } from "../ui/Icon";
import type { IconName } from "../ui/icons.tsx";
import { Menu } from "../ui/Menu";
import { toast } from "../ui/toasts";
import { FactorDialog } from "./FactorDialog";
import { MyLimits } from "./MyLimits";

type Opened = "limits" | "password" | "factor";

const DIALOGS: { name: Opened; icon: IconName; label: string }[] = [
  { name: "limits", icon: "store", label: "Your limits" },
  { name: "password", icon: "lock", label: "Set a password" },
  { name: "factor", icon: "lock", label: "Second factor" },
];

/** Who is signed in, with what concerns only them: the lab they look at, their password, and going. */
export function You({ me }: { me: Me }) {
  const [opened, setOpened] = useState<Opened | null>(null);
  const shut = () => setOpened(null);
  const signOut = useMutation({
    mutationFn: () => remove("/api/session"),
    onSuccess: () => window.location.assign("/"),
    onError: (error) => toast(error.message, { tone: "err" }),
  });
  const choose = useMutation({
    mutationFn: (lab: number) => put("/api/session/lab", { lab }),
    onSuccess: () => window.location.assign("/"), // loaded anew, so that nothing of the other lab stays
    onError: (error) => toast(error.message, { tone: "err" }),
  });
  const others = me.labs.filter((lab) => lab.name !== me.lab);
  return (
    <>
      <span className="you">
        <Menu title={`${me.name}, ${me.role} of ${me.lab}`} className="me" label={initials(me.name)}>
          {(close) => (
            <>
              <p>
                <b>{me.name}</b>, {me.role} of {me.lab}
              </p>
              {others.map((lab) => (
                <button key={lab.id} disabled={choose.isPending} onClick={() => choose.mutate(lab.id)}>
                  <Icon name="lab" />
                  Switch to {lab.name}
                </button>
              ))}
              {DIALOGS.map(({ name, icon, label }) => (
                <button
                  key={name}
                  onClick={() => {
                    close();
                    setOpened(name);
                  }}
                >
                  <Icon name={icon} />
                  {label}
                </button>
              ))}
              <button onClick={() => signOut.mutate()}>
                <Icon name="unlink" />
                Sign out
              </button>
            </>
          )}
        </Menu>
      </span>
      {opened === "limits" && createPortal(<MyLimits onClose={shut} />, document.body)}
      {opened === "factor" && createPortal(<FactorDialog onClose={shut} />, document.body)}
      {opened === "password" && createPortal(<PasswordDialog onClose={shut} />, document.body)}
    </>
  );
}

function PasswordDialog({ onClose }: { onClose: () => void }) {
  const [current, setCurrent] = useState("");
  const [password, setPassword] = useState("");
  const change = useMutation({
    mutationFn: () => put("/api/session/password", { password, current }),
    onSuccess: () => {
      toast("Your password is set.");
      onClose();
    },
  });
  const why = password ? "" : "Enter a new password first";
  return (
    <Dialog
      title="Set a password"
      onClose={onClose}
      footer={
        <>
          <button className="btn" onClick={onClose}>
            Cancel
          </button>
          <button className="btn primary" form="set-password" disabled={Boolean(why) || change.isPending} title={why}>
            Set password
          </button>
        </>
      }
    >
      <form
        id="set-password"
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!why) change.mutate();
        }}
      >
        <div className="field">
          <label htmlFor="current-password">
            Current password<i>not needed if you have none or signed in with a link</i>
          </label>
          <div className="in">
            <input
              id="current-password"
              type="password"
              autoComplete="current-password"
              value={current}
              onChange={(event) => setCurrent(event.target.value)}
            />
          </div>
        </div>
        <div className="field">
          <label htmlFor="new-password">
            New password<i>at least 10 characters</i>
          </label>
          <div className="in">
            <input
              id="new-password"
              type="password"
              autoComplete="new-password"
              data-autofocus
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
          </div>
        </div>
        {change.error && <Remark text={change.error.message.replace(/^\/password: /, "")} />}
      </form>
    </Dialog>
  );
}
