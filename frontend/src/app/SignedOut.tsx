import { Icon, Logo } from "../ui/Icon";

/** For who is not signed in: the two ways in, and nothing else. */
export function SignedOut() {
  return (
    <div className="signed-out" data-testid="signed-out">
      <div className="panel">
        <span className="word">
          <Logo />
          Millrace
        </span>
        <h1>You are not signed in</h1>
        <p>
          Open the link that <code>scripts/up</code> printed when it started: it holds a one-time token.
        </p>
        <p>The link was used already, or it is gone? Make a new one on the machine that runs Millrace:</p>
        <pre>.venv/bin/python manage.py signin_url</pre>
        <button className="btn" onClick={() => window.location.reload()}>
          <Icon name="rerun" />I am signed in now
        </button>
      </div>
    </div>
  );
}
