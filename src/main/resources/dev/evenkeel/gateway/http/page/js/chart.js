import { Component, html, UPlot } from './lib.js';
import { brief, rate } from './words.js';
import { GROUP_SAMPLES } from './history.js';

const HEIGHT = 150;
const dark = matchMedia('(prefers-color-scheme: dark)');

function options(width) {
  const css = getComputedStyle(document.documentElement);
  const colour = (name) => css.getPropertyValue(name).trim();
  const font = '11px B612, system-ui, sans-serif';
  const axis = { stroke: colour('--quiet'), font, ticks: { show: false }, grid: { show: false } };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
    padding: [8, 0, 0, 0],
    scales: {
      x: { time: true },
      lag: { range: (u, min, max) => [0, Math.max(max ?? 0, 10) * 1.1] },
      rate: { range: (u, min, max) => [0, Math.max(max ?? 0, 10) * 1.1] },
    },
    series: [
      {},
      { label: 'lag', scale: 'lag', stroke: colour('--water-line'), fill: colour('--water'), width: 1.5, points: { show: false } },
      { label: 'rate', scale: 'rate', stroke: colour('--amber'), dash: [5, 3], width: 1.5, points: { show: false } },
    ],
    axes: [
      { ...axis, size: 24, space: 80, values: (u, splits) => splits.map((s) => new Date(s * 1000).toLocaleTimeString('en-GB')) },
      { ...axis, scale: 'lag', size: 52, space: 32, grid: { show: true, stroke: colour('--rule'), width: 1 }, values: (u, v) => v.map(brief) },
      { ...axis, scale: 'rate', side: 1, size: 52, space: 32, values: (u, v) => v.map(rate) },
    ],
  };
}

/** Lag (filled) and rate (dashed) of a group over the last ten minutes. Its canvas is drawn by uPlot. */
export class Chart extends Component {
  componentDidMount() {
    this.resized = new ResizeObserver(() => this.fit());
    this.resized.observe(this.base);
    this.schemed = () => this.make();
    dark.addEventListener('change', this.schemed);
    document.fonts?.ready.then(() => this.base && this.make());
    this.make();
  }

  shouldComponentUpdate(next) {
    if (next.tick !== this.props.tick || next.ring !== this.props.ring) this.plot?.setData(this.data(next.ring));
    return next.label !== this.props.label;
  }

  componentWillUnmount() {
    this.resized.disconnect();
    dark.removeEventListener('change', this.schemed);
    this.plot?.destroy();
    this.plot = null;
  }

  make() {
    this.plot?.destroy();
    const place = this.base.querySelector('.canvas');
    this.plot = new UPlot(options(Math.max(200, place.clientWidth)), this.data(this.props.ring), place);
  }

  fit() {
    const width = Math.max(200, this.base.querySelector('.canvas').clientWidth);
    if (this.plot && this.plot.width !== width) this.plot.setSize({ width, height: HEIGHT });
  }

  /** Always the whole span, so that the lines grow from the right instead of stretching. */
  data(ring) {
    if (ring === undefined || ring.length === 0) return [[], [], []];
    const hole = (values) => values.map((value) => (Number.isNaN(value) ? null : value));
    const times = ring.values(0);
    const first = times.at(-1) - Math.max(120, Math.min(GROUP_SAMPLES, times.at(-1) - times[0]));
    const lead = first < times[0] ? [first] : [];
    const blank = lead.map(() => null);
    return [[...lead, ...times], [...blank, ...hole(ring.values(1))], [...blank, ...hole(ring.values(2))]];
  }

  render({ label }) {
    return html`<figure class="chart" role="img" aria-label=${label}>
      <figcaption aria-hidden="true"><span class="key lag">lag, messages</span><span class="key rate">consumed, messages/s</span></figcaption>
      <div class="canvas" aria-hidden="true"></div>
    </figure>`;
  }
}
