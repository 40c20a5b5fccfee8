import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { post } from "../api/client";
import type { ExperimentDocument } from "../api/document";
import type { ExperimentRecord } from "../api/types";
import { toast } from "../ui/toasts";

/** Stores a document as a new experiment and opens it. */
export function useCreate() {
  const client = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: (document: ExperimentDocument) => post<ExperimentRecord>("/api/experiments", { document }),
    onSuccess: (record) => {
      void client.invalidateQueries({ queryKey: ["experiments"] });
      void navigate(`/experiments/${record.id}`);
    },
    onError: (error) => toast(error.message, { tone: "err" }),
  });
}
