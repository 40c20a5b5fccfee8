import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link, Outlet, useLocation } from "react-router";
import { ApiError } from "../api/client";
import { meQuery } from "../api/queries";
import { useWho } from "../session/who";
import { Icon } from "../ui/Icon";
import type { IconName } from "../ui/icons";
import { toast, Toasts } from "../ui/toasts";
import { Keyboard } from "./Keyboard";
import { useSignOnRefusal } from "./signOn";
import { SignedInNoMore, SignedOut } from "./SignedOut";
import { Tour } from "./Tour";
import { useNews } from "./useNews";
import { You } from "./You";

const SCREENS: [to: string, label: string, icon: IconName][] = [
  ["/templates", "Templates", "gallery"],
  ["/experiments", "Experiments", "copy"],
  ["/", "Canvas", "canvas"],
  ["/runs", "Runs", "runs"],
  ["/compare", "Compare", "compare"],
  ["/studies", "Studies", "studies"],
  ["/figures", "Figures", "figures"],
  ["/analysis", "Analysis", "agg"],
  ["/models", "Models", "models"],
  ["/datasets", "Data sets", "dataset"],
];
const LAB: [to: string, label: string, icon: IconName] = ["/lab", "Lab", "lab"];
const LEARN: [to: string, label: string, icon: IconName] = ["/learn", "Lessons", "learn"];
const HELP: [to: string, label: string, icon: IconName] = ["/help", "Help", "book"];
const ALL = [...SCREENS, LAB, LEARN, HELP];

/** What ended for whom the server does not know any more. */
type Refusal = "session" | "membership";

function refusalIn(error: Error | null): Refusal | null {
  if (!(error instanceof ApiError) || (error.status !== 401 && error.status !== 403)) return null;
  return (error.body as { member?: boolean } | null)?.member === false ? "membership" : "session";
}

/** The rail, the page, the messages; or, for who is not signed in, how to sign in. */
export function Shell() {
  const { data: me, error, refetch } = useQuery(meQuery);
  const refusal = refusalIn(error);
  // While it is asked again there is neither an answer nor an error; what somebody is typing to sign in must stay.
  const [signedOut, setSignedOut] = useState<Refusal | null>(null);
  if (signedOut !== refusal && (refusal || me)) setSignedOut(refusal);
  useEffect(() => useWho.setState({ me }), [me]);
  const notConnected = useSignOnRefusal();
  const isSignedIn = Boolean(me);
  useEffect(() => void (isSignedIn && notConnected && toast(notConnected, { tone: "err" })), [isSignedIn, notConnected]);
  useNews(isSignedIn && !signedOut);
  if (signedOut && !me) return <SignedOut member={signedOut === "session"} />;
  return (
    <div className="shell">
      <nav className="rail" aria-label="Main">
        {SCREENS.map((screen) => (
          <Screen key={screen[0]} screen={screen} />
        ))}
        <span className="grow" />
        <Screen screen={LAB} />
        <Screen screen={LEARN} />
        <Screen screen={HELP} />
        {me && <You me={me} />}
      </nav>
      <main className="view">
        <Outlet />
      </main>
      <Toasts />
      <Tour />
      <Keyboard screens={ALL} />
      {signedOut && <SignedInNoMore member={signedOut === "session"} onSignedIn={() => void refetch()} />}
    </div>
  );
}

function Screen({ screen: [to, label, icon] }: { screen: [to: string, label: string, icon: IconName] }) {
  const here = isHere(to, useLocation().pathname);
  return (
    <Link to={to} title={label} className={here ? "on" : ""} aria-current={here ? "page" : undefined}>
      <Icon name={icon} />
      <span>{label}</span>
    </Link>
  );
}

/** "/" stands for the canvas, which has an experiment's address. */
const isHere = (to: string, pathname: string) =>
  to === "/"
    ? pathname.startsWith("/experiments/")
    : pathname === to || (to !== "/experiments" && pathname.startsWith(`${to}/`));
