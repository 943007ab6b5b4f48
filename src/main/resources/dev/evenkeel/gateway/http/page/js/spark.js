import { html } from './lib.js';

/** A small line of the last samples; it breaks where one was unknown. Its scale begins at zero. */
export function Spark({ values, width, height }) {
  const points = values ?? [];
  const top = Math.max(1, ...points.filter((value) => !Number.isNaN(value)));
  const step = points.length > 1 ? width / (points.length - 1) : 0;
  let path = '';
  let pen = 'M';
  points.forEach((value, i) => {
    if (Number.isNaN(value)) {
      pen = 'M';
      return;
    }
    path += `${pen}${(i * step).toFixed(1)} ${(height - 1 - (value / top) * (height - 2)).toFixed(1)}`;
    pen = 'L';
  });
  return html`<svg class="spark" width=${width} height=${height} viewBox="0 0 ${width} ${height}" aria-hidden="true" preserveAspectRatio="none">
    <path d=${path || 'M0 0'} vector-effect="non-scaling-stroke" />
  </svg>`;
}
