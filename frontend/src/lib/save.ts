/** Files that the page makes by itself, handed to the browser to keep. */

/** Pixels of a PNG for each of the picture's. */
const PNG_SCALE = 2;
/** Browsers make no larger pictures, px. */
const PNG_SIDE_MAX = 8192;
const FILE_NAME_LENGTH_MAX = 80;

export function download(content: Blob, name: string): void {
  const link = window.document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** What a thing is called, as the name of a file. */
export const fileName = (name: string, ending: string, fallback = "experiment") =>
  `${
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .slice(0, FILE_NAME_LENGTH_MAX)
      .replace(/^-|-$/g, "") || fallback
  }.${ending}`;

/** Of pictures; PDF has lines and letters, not dots. */
export const PICTURES = ["svg", "png", "pdf"] as const;
export type PictureFormat = (typeof PICTURES)[number];

interface Picture {
  svg: string;
  width: number;
  height: number;
}

/** Hands a picture to the browser. name: without the ending. */
export async function savePicture(picture: Picture, format: PictureFormat, name: string, fallback: string): Promise<void> {
  const made = format === "png" ? await pngOf(picture) : format === "pdf" ? await (await import("./pdf")).pdfOf(picture) : svgBlob(picture);
  download(made, fileName(name, format, fallback));
}

const svgBlob = ({ svg }: Picture) => new Blob([svg], { type: "image/svg+xml" });

export async function pngOf({ svg, width, height }: Picture): Promise<Blob> {
  const scale = Math.min(PNG_SCALE, PNG_SIDE_MAX / Math.max(width, height));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = window.document.createElement("canvas");
  canvas.width = Math.ceil(width * scale);
  canvas.height = Math.ceil(height * scale);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The browser could not create a picture of this size."))), "image/png"),
  );
}
