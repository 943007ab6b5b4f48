import { html, useState } from './lib.js';
import { count } from './words.js';

/** Rows that are drawn at first, and that one press of the button adds. */
const ROWS_AT_ONCE = 200;

function sorted(rows, order) {
  if (order === null) return rows;
  const { column, down } = order;
  const value = (row) => row.sort?.[column] ?? null;
  const way = down ? -1 : 1;
  // What is unknown comes last, either way.
  return [...rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === null || y === null) return (x === null) - (y === null);
    return way * (typeof x === 'string' ? x.localeCompare(y, 'en', { numeric: true }) : x - y);
  });
}

function Head({ column, i, order, onOrder }) {
  const mine = order?.column === i;
  const sort = mine ? (order.down ? 'descending' : 'ascending') : undefined;
  const next = () => onOrder(mine ? { column: i, down: !order.down } : { column: i, down: column.num === true });
  return html`<th role="columnheader" scope="col" class=${column.num ? 'num' : ''} aria-sort=${sort}>
    ${column.sortable ? html`<button type="button" class="sort" onClick=${next}>${column.name}<span aria-hidden="true">${mine ? (order.down ? ' ▾' : ' ▴') : ''}</span></button>` : column.name}
  </th>`;
}

function Row({ row, columns }) {
  return html`<tr role="row" data-row=${row.id} data-marked=${row.marked ? '' : undefined}>
    ${columns.map((column, i) =>
      i === 0
        ? html`<th role="rowheader" scope="row" class=${column.mono ? 'mono' : ''}>${row.cells[0]}</th>`
        : html`<td role="cell" class=${`${column.num ? 'num' : ''} ${column.mono ? 'mono' : ''}`} data-name=${column.name}>${row.cells[i]}</td>`,
    )}
  </tr>`;
}

/**
 * A table that scrolls sideways in itself, with the keyboard too. On narrow screens each row becomes a block in
 * which every cell says what it is: so roles are given, as browsers forget those of tables that are laid out otherwise.
 *
 * @param columns `{ name, num, mono, sortable }`: `num` aligns to the right
 * @param rows `{ key, cells, sort }`: `cells` and `sort` (plain values, null if unknown) by column
 * @param empty what to show instead of rows
 * @param tall true: the table has no height of its own
 * @param first rows that are drawn at first
 */
export function Table({ label, columns, rows, empty, tall, first = ROWS_AT_ONCE, children }) {
  const [order, setOrder] = useState(null);
  const [shown, setShown] = useState(first);
  const all = sorted(rows, order);
  const more = Math.min(ROWS_AT_ONCE, all.length - shown);
  return html`<section class="panel" aria-label=${label}>
    <h2>${label}</h2>
    ${children}
    ${rows.length === 0
      ? html`<div class="nothing">${empty}</div>`
      : html`<div class="scroll" role="region" tabindex="0" aria-label=${`${label}, table`} data-tall=${tall ? '' : undefined}>
          <table role="table">
            <thead role="rowgroup">
              <tr role="row">
                ${columns.map((column, i) => html`<${Head} column=${column} i=${i} order=${order} onOrder=${setOrder} />`)}
              </tr>
            </thead>
            <tbody role="rowgroup">
              ${all.slice(0, shown).map((row) => html`<${Row} key=${row.key} row=${row} columns=${columns} />`)}
            </tbody>
          </table>
          ${more > 0 && html`<button type="button" class="more" onClick=${() => setShown(shown + more)}>Show ${count(more)} more of ${count(all.length)}</button>`}
        </div>`}
  </section>`;
}
