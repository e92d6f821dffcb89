/** For a failure that changes nothing: a connection has already ended, a pause is cut short, a file is not there. */
export function expected(): undefined {
  return undefined;
}
