/** A member of what somebody else's JSON holds; undefined where there is none. */
export function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

export function textMember(value: unknown, name: string): string | undefined {
  return textOf(member(value, name));
}

/** A text, or the digits of a number; undefined for anything else. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value : undefined;
}
