import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { upload } from "../../api/client";
import type { UploadPreview } from "../../api/types";
import { useSettled } from "../../lib/useSettled";

const PREVIEW_BYTES = 1 << 20;

/** What the server makes of the first rows of a file. The last answer stays until the next, also while the server refuses a choice. */
export function usePreview(file: File, choices: object) {
  const wanted = JSON.stringify(choices);
  const asked = useSettled(wanted);
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ["upload-preview", file.name, file.size, file.lastModified, asked],
    queryFn: ({ signal }) => {
      const form = new FormData();
      form.append("file", file.slice(0, PREVIEW_BYTES), file.name);
      form.append("reading", asked);
      form.append("whole", String(file.size <= PREVIEW_BYTES));
      return upload<UploadPreview>("/api/datasets/preview", form, signal);
    },
    staleTime: Infinity,
    gcTime: 60_000,
    retry: false,
  });
  const [last, setLast] = useState(data);
  if (data && data !== last) setLast(data);
  return { preview: data ?? last, error, isCurrent: wanted === asked && !isFetching, retry: refetch };
}
