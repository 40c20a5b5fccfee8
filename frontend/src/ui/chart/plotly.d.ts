/** The little of Plotly that `ui/Plot.tsx` uses; its own types are larger than all of this page's. */
declare module "plotly.js-cartesian-dist-min" {
  export type PlotlyObject = { [name: string]: unknown };
  export interface PlotlyPoint {
    curveNumber: number;
    pointNumber: number | [number, number];
  }
  /** Of a box in `range`, of a lasso in `lassoPoints`; of one that is taken away in neither. */
  export interface PlotlySelection {
    points: PlotlyPoint[];
    range?: { x: [number, number]; y: [number, number] };
    lassoPoints?: { x: number[]; y: number[] };
  }
  export interface PlotlyElement extends HTMLElement {
    on(event: "plotly_click", listener: (event: { points: PlotlyPoint[] }) => void): void;
    on(event: "plotly_selected", listener: (event: PlotlySelection | undefined) => void): void;
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
