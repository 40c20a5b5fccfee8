import { useEffect, type ReactNode } from "react";
import { Link } from "react-router";
import { Logo } from "./Icon";
import { ThemeSwitch } from "./ThemeSwitch";

/** What is open and its state at the left; the theme and the page's actions at the right, the primary one last. */
export function TopBar({
  title,
  crumb,
  actions,
}: {
  /** What the browser's tab says. */
  title: string;
  crumb: ReactNode;
  actions?: ReactNode;
}) {
  useEffect(() => {
    document.title = title ? `${title} · Millrace` : "Millrace";
  }, [title]);
  return (
    <header className="top">
      <Link className="word" to="/" aria-label="Millrace, home">
        <Logo />
        Millrace
      </Link>
      <span className="sep" />
      <div className="crumb">{crumb}</div>
      <span className="grow" />
      <ThemeSwitch />
      {actions && (
        <>
          <span className="sep" />
          {actions}
        </>
      )}
    </header>
  );
}
