const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

/**
 * RFC 7396. What the patch does not touch stays the same object, so that views compare by identity.
 * Objects have no prototype: a topic may be called "__proto__".
 */
export function merge(target, patch) {
  if (!isObject(patch)) return patch;
  const base = isObject(target) ? target : Object.create(null);
  let copy = null;
  const writable = () => (copy ??= Object.assign(Object.create(null), base));
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === null) {
      if (key in base) delete writable()[key];
    } else {
      const merged = merge(base[key], value);
      if (merged !== base[key]) writable()[key] = merged;
    }
  }
  return copy ?? base;
}
