/** Second cues beside colours, drawn on a canvas; ui/patterns.css has the same for elements. */
import type { Pattern } from "../../model/run/parts";

const TILE = 8;

/** A fill with the pattern in a colour on a surface of another, on a canvas of so many dots a pixel. */
export function fillOf(
  context: CanvasRenderingContext2D,
  pattern: Pattern,
  colour: string,
  ratio: number,
  surface: string,
): CanvasPattern | string {
  if (pattern === "plain") return colour;
  const tile = document.createElement("canvas");
  tile.width = tile.height = TILE * ratio;
  const draw = tile.getContext("2d");
  if (!draw) return colour;
  draw.scale(ratio, ratio);
  draw.fillStyle = surface;
  draw.fillRect(0, 0, TILE, TILE);
  draw.globalAlpha = 0.35;
  draw.fillStyle = colour;
  draw.fillRect(0, 0, TILE, TILE);
  draw.globalAlpha = 1;
  draw.strokeStyle = colour;
  draw.lineWidth = 1.5;
  draw.beginPath();
  if (pattern === "dots") for (const [x, y] of [[2, 2], [6, 6]] as const) draw.rect(x - 0.5, y - 0.5, 1, 1);
  if (pattern === "hatch" || pattern === "cross") for (const x of [-TILE, 0, TILE]) line(draw, x, TILE, x + TILE, 0);
  if (pattern === "cross") for (const x of [-TILE, 0, TILE]) line(draw, x, 0, x + TILE, TILE);
  if (pattern === "rows") for (const y of [2, 6]) line(draw, 0, y, TILE, y);
  draw.stroke();
  return context.createPattern(tile, "repeat") ?? colour;
}

function line(draw: CanvasRenderingContext2D, x: number, y: number, toX: number, toY: number): void {
  draw.moveTo(x, y);
  draw.lineTo(toX, toY);
}
