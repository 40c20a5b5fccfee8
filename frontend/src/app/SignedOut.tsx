import { Dialog } from "../ui/Dialog";
import { Icon, Logo } from "../ui/Icon";
import { SignInForm } from "./SignInForm";

/** For who is not signed in, or belongs to no lab: the ways in, and nothing else. */
export function SignedOut({ member }: { member: boolean }) {
  return (
    <div className="signed-out" data-testid="signed-out">
      <div className="panel">
        <span className="word">
          <Logo />
          Millrace
        </span>
        <h1>{member ? "You are not signed in" : "You belong to no lab yet"}</h1>
        {!member && <p>You are signed in. Ask an owner of the lab for an invitation, or sign in as someone else.</p>}
        <SignInForm onSignedIn={() => window.location.reload()} />
        <hr />
        <p>
          No password? Open the link that <code>scripts/up</code> printed when it started, or create a new one on the machine that runs
          Millrace:
        </p>
        <pre>.venv/bin/python manage.py signin_url</pre>
        <button className="btn" onClick={() => window.location.reload()}>
          <Icon name="rerun" />
          {member ? "I am signed in now" : "I am a member now"}
        </button>
      </div>
    </div>
  );
}

/** For whose session or membership ended while they were at work: the page below stays as it is, with what was not saved yet. */
export function SignedInNoMore({ member, onSignedIn }: { member: boolean; onSignedIn: () => void }) {
  return (
    <Dialog
      title={member ? "Your session has ended" : "You are no longer a member of the lab"}
      onClose={onSignedIn}
      footer={
        <button className="btn primary" data-autofocus onClick={onSignedIn}>
          {member ? "I am signed in now" : "I am a member now"}
        </button>
      }
    >
      <p>Nothing is lost: this page keeps your edits and saves them as soon as you are {member ? "signed in" : "a member"} again.</p>
      {member ? (
        <p>Create a new link on the machine that runs Millrace, open it in another tab of this browser, and come back here:</p>
      ) : (
        <p>Ask an owner of the lab to add you, or sign in as someone else: create a link where Millrace runs and open it in another tab:</p>
      )}
      <pre className="command">.venv/bin/python manage.py signin_url</pre>
    </Dialog>
  );
}
