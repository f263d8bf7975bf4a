/** For the end of a switch that handles every kind: a kind it does not handle does not compile. */
export function unreachable(value: never): never {
  throw new TypeError(`no such kind: ${JSON.stringify(value)}`);
}
