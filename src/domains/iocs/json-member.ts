/** A member of what somebody else's JSON holds; undefined where there is none. */
export function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

export function textMember(value: unknown, name: string): string | undefined {
  const found = member(value, name);
  if (typeof found === "number") return String(found);
  return typeof found === "string" ? found : undefined;
}

export function listMember(value: unknown, name: string): readonly unknown[] {
  const found = member(value, name);
  return Array.isArray(found) ? found : [];
}
