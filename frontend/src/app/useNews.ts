import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { followNews } from "../api/news";
import { SIGNED_IN } from "../api/socket";

/** Follows what changes in the lab while somebody is signed in, and tells all other connections when somebody is so again. */
export function useNews(signedIn: boolean): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!signedIn) return;
    window.dispatchEvent(new Event(SIGNED_IN));
    return followNews(client);
  }, [signedIn, client]);
}
