/** Draws a plot's table on a canvas, by uPlot. */
import uPlot from 'uplot';
import type { PlotTable } from '../../extension/run-page/plots.ts';
import { whole } from '../panel/formats.ts';
import type { Theme } from '../panel/theme.ts';
import { valueText } from './columns.ts';
import { word } from './words.ts';

const HEIGHT = 240;
/** Curves with more points than this are drawn without marks. */
const MARKED = 60;
/** Second and later curves differ in more than colour. */
const DASHES = [undefined, [6, 4], [2, 3], [10, 3, 2, 3]];
/** Pixels that intervals of several curves stand apart. */
const APART = 4;
/** Rounds and steps are whole. */
const WHOLE_STEPS = [1, 2, 5]
  .flatMap((digit) => [...Array(9).keys()].map((power) => digit * 10 ** power))
  .sort((a, b) => a - b);

/** Places of a plot's curves among its columns, with those of their intervals' ends. */
export function curvesOf({ columns }: PlotTable): { at: number; low?: number; high?: number }[] {
  return columns.flatMap(({ draw }, at) => {
    if (draw !== 'line') return [];
    const interval = columns[at + 1]?.draw === 'low' && columns[at + 2]?.draw === 'high';
    return [interval ? { at, low: at + 1, high: at + 2 } : { at }];
  });
}

/**
 * Puts a plot into an element.
 * @param shown the rows of the moment; their columns never change.
 * @param onPoint told which row is under the pointer; null for none.
 */
export function drawCurves(
  into: HTMLElement,
  shown: () => PlotTable,
  theme: Theme,
  onPoint: (row: number | null) => void,
): uPlot {
  const plot = shown();
  const curves = curvesOf(plot);
  const kind = plot.columns[curves[0].at].kind;
  const percents = curves.every(({ at }) => plot.columns[at].kind === 'share');
  const axis = {
    stroke: theme.foreground,
    font: theme.font,
    grid: { stroke: theme.grid, width: 1 },
    ticks: { stroke: theme.grid, width: 1 },
  };
  const options: uPlot.Options = {
    width: Math.max(200, into.clientWidth),
    height: HEIGHT,
    legend: { show: false },
    scales: {
      x: { time: false, range: (_, low, high) => (high > low ? margins(low, high) : [low - 1, low + 1]) },
      y: percents
        ? { range: (_, __, high) => [0, high > 0 && plot.id !== 'success' ? Math.min(1, high * 1.15) : 1] }
        : {},
    },
    axes: [
      {
        ...axis,
        label: word(plot.columns[0].name),
        labelFont: theme.font,
        labelSize: 20,
        incrs: WHOLE_STEPS,
        values: (_, ticks) => ticks.map(whole),
      },
      {
        ...axis,
        size: 64,
        values: (_, ticks) =>
          ticks.map((tick) => valueText(tick, percents ? 'share' : kind === 'count' ? 'count' : 'figure')),
      },
    ],
    series: [
      {},
      ...curves.map(({ at }, place) => ({
        label: plot.columns[at].name,
        stroke: theme.curves[place % theme.curves.length],
        width: 2,
        dash: DASHES[place % DASHES.length],
        spanGaps: true,
        points: { show: () => shown().rows.length <= MARKED, size: 6, fill: theme.curves[place % theme.curves.length] },
      })),
    ],
    hooks: {
      draw: [(drawn) => drawIntervals(drawn, shown(), theme)],
      setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)],
    },
  };
  return new uPlot(options, alignedData(plot), into);
}

export function alignedData(plot: PlotTable): uPlot.AlignedData {
  const column = (at: number) => plot.rows.map((row) => row[at]);
  return [plot.rows.map((row) => row[0] ?? 0), ...curvesOf(plot).map(({ at }) => column(at))];
}

/** A vertical line from the low to the high end at every point that has an interval. */
function drawIntervals(drawn: uPlot, plot: PlotTable, theme: Theme): void {
  const { ctx } = drawn;
  const pixels = devicePixelRatio;
  curvesOf(plot).forEach(({ low, high }, place) => {
    if (low === undefined || high === undefined) return;
    ctx.save();
    ctx.strokeStyle = theme.curves[place % theme.curves.length];
    ctx.lineWidth = 1.5 * pixels;
    for (const row of plot.rows) {
      const [from, to] = [row[low], row[high]];
      if (from === null || to === null) continue;
      const x = drawn.valToPos(row[0] ?? 0, 'x', true) + place * APART * pixels;
      ctx.beginPath();
      ctx.moveTo(x, drawn.valToPos(from, 'y', true));
      ctx.lineTo(x, drawn.valToPos(to, 'y', true));
      ctx.stroke();
    }
    ctx.restore();
  });
}

/** Room at both ends, so that the first and the last interval are not cut. */
function margins(low: number, high: number): [number, number] {
  const room = (high - low) * 0.02;
  return [low - room, high + room];
}
