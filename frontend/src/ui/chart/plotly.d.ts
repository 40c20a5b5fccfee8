/** The little of Plotly that `ui/Plot.tsx` uses; its own types are larger than all of this page's. */
declare module "plotly.js-cartesian-dist-min" {
  export type PlotlyObject = { [name: string]: unknown };
  export interface PlotlyElement extends HTMLElement {
    on(event: string, listener: (event: { points: { curveNumber: number; pointNumber: number | [number, number] }[] }) => void): void;
    removeAllListeners(event: string): void;
  }
  const Plotly: {
    react(element: HTMLElement, data: PlotlyObject[], layout: PlotlyObject, config?: PlotlyObject): Promise<PlotlyElement>;
    purge(element: HTMLElement): void;
    toImage(element: HTMLElement, options: { format: "svg"; width: number; height: number }): Promise<string>;
    Plots: { resize(element: HTMLElement): Promise<void> };
  };
  export default Plotly;
}
