/**
 * Takes the token of a one-time link from the address. It stands behind the #: no server logs it. The address loses it
 * immediately, and the history state keeps it for a reload. A link without a token is invalid.
 */
export function takeToken(): string {
  const { hash, pathname, search } = window.location;
  const state = (window.history.state ?? {}) as { linkToken?: string };
  if (hash.length <= 1) return state.linkToken ?? 'none';
  const linkToken = decodeURIComponent(hash.slice(1));
  window.history.replaceState({ ...state, linkToken }, '', `${pathname}${search}`);
  return linkToken;
}
