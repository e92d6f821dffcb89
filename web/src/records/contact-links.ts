// Addresses of links that write to or call somebody. Values come from other systems, and may hold more than they say.

/** Escapes the address: a question mark would otherwise add a subject or a blind copy. */
export function mailLink(address: string): string {
  return `mailto:${encodeURIComponent(address.toWellFormed()).replaceAll('%40', '@')}`;
}

export function phoneLink(number: string): string {
  return `tel:${number.replaceAll(/[^\d+]/g, '')}`;
}
