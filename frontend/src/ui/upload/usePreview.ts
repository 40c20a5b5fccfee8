import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { upload } from "../../api/client";
import type { UploadPreview } from "../../api/types";

const PREVIEW_BYTES = 1 << 20;
const PAUSE_MS = 250;

/** What the server makes of the first rows of a file, once nothing was typed for a moment. The last answer stays until the next. */
export function usePreview(file: File, choices: object) {
  const wanted = JSON.stringify(choices);
  const [asked, setAsked] = useState(wanted);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(wanted), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [wanted]);
  const query = useQuery({
    queryKey: ["upload-preview", file.name, file.size, file.lastModified, asked],
    queryFn: ({ signal }) => {
      const form = new FormData();
      form.append("file", file.slice(0, PREVIEW_BYTES), file.name);
      form.append("reading", asked);
      form.append("whole", String(file.size <= PREVIEW_BYTES));
      return upload<UploadPreview>("/api/datasets/preview", form, signal);
    },
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    gcTime: 60_000,
    retry: false,
  });
  return { preview: query.data, error: query.error, isCurrent: wanted === asked && !query.isFetching, retry: query.refetch };
}
