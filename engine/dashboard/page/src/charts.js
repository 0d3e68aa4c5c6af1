// The history as charts on one time axis.
import uPlot from 'uplot';

import * as format from './format.js';

const CHARTS = [
  {title: 'Rows per second', key: 'rows_per_second', color: '--rows', text: (v) => format.rate(v, 'rows/s')},
  {title: 'Trainer waits for data', key: 'starved_ratio', color: '--wait', text: format.percent, top: 1},
  {title: 'Memory', key: 'memory_bytes', color: '--memory', text: format.bytes, binary: true},
  {title: 'CPUs busy', key: 'cpus_busy', color: '--cpus', text: (v) => format.rate(v, 'CPUs')},
  {title: 'Loss', key: 'loss', color: '--loss', text: format.metric, optional: true},
  {title: 'AUC of evaluations', key: 'auc', color: '--auc', text: format.metric, optional: true, close: true},
];
const HEIGHT = 150;

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** The range of values that are shown without zero, since their differences are small. */
const around = (min, max) => [min - Math.max(0.002, 0.2 * (max - min)), max + Math.max(0.002, 0.2 * (max - min))];

/** Steps of an axis of bytes: powers of two, so that its labels are short. */
const BINARY_STEPS = Array.from({length: 60}, (_, i) => 2 ** i);

function options(chart, width, sync) {
  const axis = {stroke: color('--muted'), grid: {stroke: color('--line'), width: 1}, ticks: {show: false},
                font: '12px system-ui, sans-serif'};
  return {
    width, height: HEIGHT, cursor: {sync: {key: sync}, y: false}, legend: {show: false},
    scales: {x: {time: true}, y: {range: (_, min, max) => chart.close ? around(min, max)
      : [0, chart.top ?? (max > 0 ? 1.08 * max : 1)]}},
    axes: [
      {...axis, space: 70, size: 28, values: (_, times) => times.map((time) => format.clock(time).slice(0, times[1] - times[0] < 60 ? 8 : 5))},
      {...axis, size: 84, space: 36, values: (_, values) => values.map(chart.text),
       ...(chart.binary ? {incrs: BINARY_STEPS} : {})},
    ],
    series: [{}, {stroke: color(chart.color), fill: color(chart.color) + '22', width: 1.5, points: {show: false}}],
  };
}

/** One chart with its title and its value: the last one, or the one under the cursor. */
class Chart {
  constructor(chart, place, sync) {
    this.chart = chart;
    this.sync = sync;
    this.box = document.createElement('figure');
    this.caption = document.createElement('figcaption');
    this.name = document.createElement('span');
    this.name.textContent = chart.title;
    this.value = document.createElement('b');
    this.caption.append(this.name, this.value);
    this.canvas = document.createElement('div');
    this.canvas.setAttribute('role', 'img');
    this.box.append(this.caption, this.canvas);
    place.append(this.box);
    this.data = [[], []];
  }

  show(samples) {
    const values = samples.map((sample) => sample[this.chart.key] ?? null);
    this.box.hidden = Boolean(this.chart.optional) && values.every((value) => value === null);
    this.data = [samples.map((sample) => sample.time), values];
    const last = values.findLast((value) => value !== null);
    this.value.textContent = this.chart.text(last);
    const most = values.reduce((a, b) => Math.max(a, b ?? 0), 0);
    this.canvas.setAttribute('aria-label', `${this.chart.title}: now ${this.chart.text(last)}, ` +
      `at most ${this.chart.text(most)}, over ${format.duration(this.span())}`);
    if (this.box.hidden) return;
    if (this.plot) this.plot.setData(this.data);
    else this.draw();
  }

  span() {
    const times = this.data[0];
    return times.length > 1 ? times[times.length - 1] - times[0] : 0;
  }

  draw() {
    this.plot?.destroy();
    this.plot = undefined;
    const width = this.canvas.clientWidth;
    if (width < 50 || this.box.hidden) return;
    const all = options(this.chart, width, this.sync);
    all.hooks = {setCursor: [(plot) => {
      const at = plot.cursor.idx;
      const value = at === null || at === undefined ? undefined : this.data[1][at];
      const shown = value ?? this.data[1].findLast((each) => each !== null);
      this.value.textContent = this.chart.text(shown) +
        (value === undefined || value === null ? '' : ` at ${format.clock(this.data[0][at])}`);
    }]};
    this.plot = new uPlot(all, this.data, this.canvas);
  }
}

/** All charts of a run in `place`; follows the place's width and the colour scheme. */
export class Charts {
  constructor(place, sync) {
    this.charts = CHARTS.map((chart) => new Chart(chart, place, sync));
    const redraw = () => this.charts.forEach((chart) => chart.draw());
    let width = 0;
    new ResizeObserver(() => {
      if (place.clientWidth === width) return;
      width = place.clientWidth;
      requestAnimationFrame(redraw);
    }).observe(place);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  }

  show(samples) {
    this.charts.forEach((chart) => chart.show(samples));
  }
}
