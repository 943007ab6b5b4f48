// The only place that knows where the libraries lie.
import { h, render, Component } from '../vendor/preact-10.29.8/preact.module.js';
import htm from '../vendor/htm-3.1.1/htm.module.js';

export { render, Component };
export {
  useEffect,
  useLayoutEffect,
  useReducer,
  useRef,
  useState,
} from '../vendor/preact-10.29.8/hooks.module.js';
export { default as UPlot } from '../vendor/uplot-1.6.32/uPlot.esm.js';
export const html = htm.bind(h);

function shallowEqual(a, b) {
  for (const key in a) {
    if (a[key] !== b[key]) return false;
  }
  for (const key in b) {
    if (!(key in a)) return false;
  }
  return true;
}

/** A view that is drawn again only when `same(old, next)` says that its facts differ. No hooks. */
export function memo(view, same = shallowEqual) {
  return class extends Component {
    shouldComponentUpdate(next) {
      return !same(this.props, next);
    }

    render(props) {
      return view(props);
    }
  };
}
