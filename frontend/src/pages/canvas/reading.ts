/** Texts that hold a document: YAML and JSON are read here, Python by the server, which parses it and never runs it. */
import { post } from "../../api/client";
import type { ExperimentDocument } from "../../api/document";
import type { ReadDocument } from "../../api/types";
import { coerceDocument } from "../../model/document/coerce";
import { isPython, readDocument, refuseTooLong } from "../../model/document/files";

/** Throws with a sentence when the text is not a document. */
export async function documentIn(text: string, signal?: AbortSignal): Promise<ExperimentDocument> {
  if (!isPython(text)) return readDocument(text);
  refuseTooLong(text);
  return coerceDocument((await post<ReadDocument>("/api/python/read", { code: text }, signal)).document);
}
