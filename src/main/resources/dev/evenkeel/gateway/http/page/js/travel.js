const FLIGHTS_MAX = 80;
const FLIGHT_MILLIS_MIN = 520;
const FLIGHT_MILLIS_MAX = 950;
const STAGGER_MILLIS_MAX = 360;
const CALM_MILLIS = 1800;
const EASING = 'cubic-bezier(.3,.05,.15,1)';

const inView = (rect) => rect.bottom > 0 && rect.top < innerHeight && rect.right > 0 && rect.left < innerWidth;

/**
 * Cells that changed their owner visibly travel: a copy flies above the page from where the cell was
 * to where it is, by transform only, while the cell itself waits unseen. A cell that moves on before
 * it has landed starts from where its copy is. Without motion, the cell is highlighted for a while.
 */
export class Travel {
  constructor(sky) {
    this.sky = sky;
    this.still = matchMedia('(prefers-reduced-motion: reduce)');
    this.flights = new Map();
  }

  /** Before drawing: where those shards are whose owner is about to change, as far as one sees them. */
  depart(before, after) {
    const from = new Map();
    if (!before || !after || before === after || document.hidden) return from;
    for (const key in after) {
      const old = before[key];
      if (old === undefined || old === after[key] || old.owner === after[key].owner) continue;
      const cell = this.flights.get(key)?.copy ?? find(key);
      if (cell) from.set(key, cell.getBoundingClientRect());
      if (from.size >= FLIGHTS_MAX) break;
    }
    return from;
  }

  /** After drawing. All is measured before anything is changed. */
  arrive(from) {
    const legs = [];
    for (const [key, start] of from) {
      const cell = find(key);
      const end = cell?.getBoundingClientRect();
      if (cell && (inView(start) || inView(end))) legs.push({ key, cell, start, end });
    }
    const stagger = Math.min(45, STAGGER_MILLIS_MAX / Math.max(1, legs.length));
    legs.forEach((leg, i) => (this.still.matches ? highlight(leg.cell) : this.fly(leg, i * stagger)));
  }

  fly({ key, cell, start, end }, delay) {
    this.flights.get(key)?.end();
    const copy = cell.cloneNode(true);
    for (const name of ['role', 'tabindex', 'aria-label', 'title', 'data-cell']) copy.removeAttribute(name);
    copy.classList.add('flying');
    copy.style.width = `${end.width}px`;
    copy.style.height = `${end.height}px`;
    const board = cell.closest('.board');
    this.sky.dataset.density = board.dataset.density;
    this.sky.append(copy);
    const at = (rect) => `translate(${rect.left + scrollX}px, ${rect.top + scrollY}px)`;
    const distance = Math.hypot(end.left - start.left, end.top - start.top);
    const duration = Math.min(FLIGHT_MILLIS_MAX, FLIGHT_MILLIS_MIN + distance * 0.5);
    const timing = { duration, delay, easing: EASING, fill: 'backwards' };
    const flight = copy.animate([{ transform: at(start) }, { transform: at(end) }], timing);
    const hidden = cell.animate([{ opacity: 0 }, { opacity: 0 }], { duration: duration + delay });
    const over = () => {
      copy.remove();
      hidden.cancel();
      if (this.flights.get(key)?.copy === copy) this.flights.delete(key);
    };
    flight.onfinish = () => {
      over();
      highlight(cell);
    };
    this.flights.set(key, { copy, end: () => (flight.cancel(), over()) });
  }
}

const find = (key) => document.querySelector(`#board [data-cell="${CSS.escape(key)}"]`);

function highlight(cell) {
  cell.animate([{ opacity: 1 }, { opacity: 0 }], { pseudoElement: '::after', duration: CALM_MILLIS, easing: 'ease-out' });
}
