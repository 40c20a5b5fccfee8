import { themeColour } from "../../ui/themeColour";

interface Picture {
  svg: string;
  width: number;
  height: number;
}

const HEAD_PX = 28;
const TITLE_PX = 20;

const escaped = (text: string) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** Charts one below the other under one title, in the colours on show. */
export function stacked(title: string, charts: { title: string; picture: Picture | null }[]): Picture {
  const colour = themeColour();
  const there = charts.flatMap(({ title, picture }) => (picture ? [{ title, ...picture }] : []));
  const width = Math.max(1, ...there.map((one) => one.width));
  let top = HEAD_PX;
  const parts = there.map(({ title, svg, height }) => {
    const at = top;
    top += TITLE_PX + height;
    const inner = svg.replace("<svg ", `<svg y="${at + TITLE_PX}" `);
    return `<text x="12" y="${at + 14}" font-size="12" font-weight="600" fill="${colour("--text")}">${escaped(title)}</text>${inner}`;
  });
  const text = `<text x="12" y="18" font-size="13" font-weight="600" fill="${colour("--text")}">${escaped(title)}</text>`;
  const ground = `<rect width="${width}" height="${top}" fill="${colour("--bg-surface")}"/>`;
  const font = "Inter, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif";
  return {
    svg: `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${width}" height="${top}" viewBox="0 0 ${width} ${top}" font-family="${font}">${ground}${text}${parts.join("")}</svg>`,
    width,
    height: top,
  };
}
