import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation } from "react-router";
import { ApiError } from "../api/client";
import { meQuery } from "../api/queries";
import { useEditor } from "../canvas/editor";
import { Icon } from "../ui/Icon";
import type { IconName } from "../ui/icons";
import { Toasts } from "../ui/toasts";
import { Keyboard } from "./Keyboard";
import { SignedOut } from "./SignedOut";

const SCREENS: [to: string, label: string, icon: IconName][] = [
  ["/experiments", "Experiments", "gallery"],
  ["/", "Canvas", "canvas"],
  ["/runs", "Runs", "runs"],
];

/** The rail, the page, the messages; or, for who is not signed in, how to sign in. */
export function Shell() {
  const { data: me, error } = useQuery(meQuery);
  const open = useEditor((state) => state.id);
  const { pathname } = useLocation();
  if (error instanceof ApiError && (error.status === 401 || error.status === 403)) return <SignedOut />;
  return (
    <div className="shell">
      <nav className="rail" aria-label="Main">
        {SCREENS.map(([to, label, icon]) => {
          const here = isHere(to, pathname);
          return (
            <Link
              key={to}
              to={to === "/" && open ? `/experiments/${open}` : to}
              title={label}
              aria-label={label}
              className={here ? "on" : ""}
              aria-current={here ? "page" : undefined}
            >
              <Icon name={icon} />
            </Link>
          );
        })}
        <span className="grow" />
        {me && (
          <span className="me" title={`${me.name}, ${me.lab}`}>
            {initials(me.name)}
          </span>
        )}
      </nav>
      <Outlet />
      <Toasts />
      <Keyboard screens={SCREENS} />
    </div>
  );
}

/** "/" stands for the canvas, which has an experiment's address. */
const isHere = (to: string, pathname: string) =>
  to === "/" ? pathname.startsWith("/experiments/") : pathname === to || (to === "/runs" && pathname.startsWith("/runs/"));

const initials = (name: string) =>
  name
    .split(/[\s._-]+/)
    .map((word) => word[0] ?? "")
    .join("")
    .slice(0, 2)
    .toUpperCase();
