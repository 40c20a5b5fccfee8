import { Fragment } from "react";

/** A text of the registry: what stands between backticks is code. */
export const Marked = ({ text }: { text: string }) =>
  text.split("`").map((part, at) => (at % 2 ? <code key={at}>{part}</code> : <Fragment key={at}>{part}</Fragment>));
