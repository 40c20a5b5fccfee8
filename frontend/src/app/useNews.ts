import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { followNews } from "../api/news";
import { NO_MEMBER, SIGNED_IN, SIGNED_OUT_EVENT } from "../api/socket";

/**
 * Follows what changes in the lab while somebody is signed in, and tells all other connections when somebody is so again.
 * Returns whether who was there is still a member of the lab, as far as is known.
 */
export function useNews(signedIn: boolean): boolean {
  const client = useQueryClient();
  const [member, setMember] = useState(true);
  useEffect(() => {
    const onSignedOut = (event: Event) => {
      const code = (event as CustomEvent<number | null>).detail;
      if (code) setMember(code !== NO_MEMBER);
    };
    window.addEventListener(SIGNED_OUT_EVENT, onSignedOut);
    return () => window.removeEventListener(SIGNED_OUT_EVENT, onSignedOut);
  }, []);
  useEffect(() => {
    if (!signedIn) return;
    setMember(true);
    window.dispatchEvent(new Event(SIGNED_IN));
    return followNews(client);
  }, [signedIn, client]);
  return member;
}
