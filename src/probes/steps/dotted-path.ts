/**
 * What a dotted path leads to in a JSON value: names of objects, and numbers of arrays from 0; `items.0.id`, also with a leading
 * `$.` and `items[0].id`. The empty path is the value itself; undefined is nothing.
 */
export function valueAt(root: unknown, path: string): unknown {
  const parts = path
    .replace(/^\$\.?/, "")
    .replace(/\[(\d+)\]/g, ".$1")
    .split(".")
    .filter((part) => part !== "");
  let value = root;
  for (const part of parts) {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, part)) return undefined;
    if (Array.isArray(value) && !/^\d+$/.test(part)) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}
