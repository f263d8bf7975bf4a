/** One segment of a JSON pointer (RFC 6901) with its slash. */
export function pointerTo(name: string): string {
  return `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The value a JSON pointer leads to inside `value`; undefined when it leads nowhere. */
export function followPointer(value: unknown, pointer: string): unknown {
  let current = value;
  for (const segment of pointer.split("/").slice(1)) {
    if (typeof current !== "object" || current === null) return undefined;
    current = Reflect.get(current, segment.replaceAll("~1", "/").replaceAll("~0", "~"));
  }
  return current;
}
