/** Texts for other programs. */
import { download } from "./save";

/** Puts a text on the clipboard; where the browser does not allow that, saves it as a file. Returns whether it is on the clipboard. */
export async function copyText(text: string, file: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    download(new Blob([text], { type: "text/plain" }), file);
    return false;
  }
}
