/**
 * Walking over the board: one of its stops has tabindex 0, arrows move it. What has the focus keeps
 * it when it is drawn anew in another lane.
 */
export class Keyboard {
  constructor(onFocus) {
    this.onFocus = onFocus;
    this.current = null;
    this.had = false;
    this.stop = null;
  }

  attach(board) {
    if (board === null || this.board === board) return;
    this.board = board;
    board.addEventListener('focusin', (event) => this.arrive(event.target.closest('[data-cell],[data-lane]')));
    board.addEventListener('keydown', (event) => this.press(event));
  }

  /** Before drawing: is the focus here? */
  remember() {
    this.had = this.board?.contains(document.activeElement) ?? false;
  }

  /** After drawing: the stop is where its shard is now. */
  restore() {
    if (!this.board?.isConnected) return;
    const stop = this.find(this.current) ?? this.board.querySelector('[data-kind="member"] [data-lane]') ?? this.board.querySelector('[data-lane]');
    this.mark(stop);
    if (this.had && !this.board.contains(document.activeElement)) stop?.focus({ preventScroll: true });
  }

  find(id) {
    if (id === null) return null;
    const [kind, name] = id;
    return this.board.querySelector(`[data-${kind}="${CSS.escape(name)}"]`);
  }

  mark(stop) {
    if (this.stop !== stop) {
      this.stop?.setAttribute('tabindex', '-1');
      this.stop = stop;
    }
    if (stop && stop.getAttribute('tabindex') !== '0') stop.setAttribute('tabindex', '0');
  }

  arrive(stop) {
    if (!stop) return;
    this.current = 'cell' in stop.dataset ? ['cell', stop.dataset.cell] : ['lane', stop.dataset.lane];
    this.mark(stop);
    this.onFocus(this.current);
  }

  press(event) {
    if (event.altKey || event.metaKey || event.shiftKey) return;
    const from = event.target.closest('[data-cell],[data-lane]');
    const to = from && this.target(from, event.key, event.ctrlKey);
    if (to) {
      event.preventDefault();
      to.focus();
    }
  }

  target(from, key, control) {
    const lanes = [...this.board.children];
    const at = lanes.indexOf(from.closest('[role="row"]'));
    const stops = (lane) => [...lane.querySelectorAll('[data-cell],[data-lane]')];
    const here = stops(lanes[at]);
    const column = here.indexOf(from);
    const beside = (by) => {
      const lane = lanes[at + by];
      return lane && stops(lane)[Math.min(column, stops(lane).length - 1)];
    };
    switch (key) {
      case 'ArrowRight':
        return here[column + 1] ?? (lanes[at + 1] && stops(lanes[at + 1])[0]);
      case 'ArrowLeft':
        return here[column - 1] ?? (lanes[at - 1] && stops(lanes[at - 1]).at(-1));
      case 'ArrowDown':
        return beside(1);
      case 'ArrowUp':
        return beside(-1);
      case 'Home':
        return control ? stops(lanes[0])[0] : here[0];
      case 'End':
        return control ? stops(lanes.at(-1)).at(-1) : here.at(-1);
      default:
        return null;
    }
  }
}
