import { Dialog } from "../ui/Dialog";
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

/** For whose session ended while they were at work: the page below stays as it is, with what was not saved yet. */
export function SignedInNoMore({ onSignedIn }: { onSignedIn: () => void }) {
  return (
    <Dialog
      title="Your session has ended"
      onClose={onSignedIn}
      footer={
        <button className="btn primary" data-autofocus onClick={onSignedIn}>
          I am signed in now
        </button>
      }
    >
      <p>Nothing is lost: what you edited is kept in this page, and is saved as soon as you are signed in again.</p>
      <p>Make a new link on the machine that runs Millrace, open it in another tab of this browser, and come back here:</p>
      <pre className="command">.venv/bin/python manage.py signin_url</pre>
    </Dialog>
  );
}
