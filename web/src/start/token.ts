/**
 * The token of a one-time link. It stands behind the #, so that no server logs it, and leaves the address at once, so that
 * nobody copies it from there; the browser's memory of this page keeps it for a reload. A link without one is not good.
 */
export function takeToken(): string {
  const { hash, pathname, search } = window.location;
  const state = (window.history.state ?? {}) as { linkToken?: string };
  if (hash.length <= 1) return state.linkToken ?? 'none';
  const linkToken = decodeURIComponent(hash.slice(1));
  window.history.replaceState({ ...state, linkToken }, '', `${pathname}${search}`);
  return linkToken;
}
