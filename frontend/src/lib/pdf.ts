/** Pictures as PDF. The library is loaded when somebody asks for one first. */
import { jsPDF } from "jspdf";
import { svg2pdf } from "svg2pdf.js";

/** Points of a page for each pixel of the picture. */
const POINTS = 0.75;

/** The font that every reader of PDF has; it knows Latin letters only, and two weights. */
const FONT = "helvetica";
const BOLD_FROM = 600;
const INSTEAD: { [letter: string]: string } = { "−": "–", "→": "->", "≤": "<=", "≥": ">=", "≠": "!=" };
const latin = (text: string) => text.replace(/[^\t\n\r -\u00ff–—‘’“”…•€™]/g, (letter) => INSTEAD[letter] ?? "?");

/** One page of the picture's size. */
export async function pdfOf({ svg, width, height }: { svg: string; width: number; height: number }): Promise<Blob> {
  const [wide, high] = [width * POINTS, height * POINTS];
  const pdf = new jsPDF({ unit: "pt", format: [wide, high], orientation: wide > high ? "landscape" : "portrait", compress: true });
  const drawing = new DOMParser().parseFromString(latin(svg), "image/svg+xml").documentElement;
  for (const element of [drawing, ...drawing.querySelectorAll<SVGElement>("*")]) inPlainLetters(element);
  await svg2pdf(drawing, pdf, { x: 0, y: 0, width: wide, height: high });
  return pdf.output("blob");
}

function inPlainLetters(element: Element & Partial<ElementCSSInlineStyle>): void {
  const { style } = element;
  if (element.hasAttribute("font-family")) element.setAttribute("font-family", FONT);
  if (style?.fontFamily) style.fontFamily = FONT;
  const weight = Number(style?.fontWeight || element.getAttribute("font-weight") || NaN);
  if (Number.isNaN(weight)) return;
  style?.removeProperty("font-weight");
  element.setAttribute("font-weight", weight >= BOLD_FROM ? "bold" : "normal");
}
