import type { CallWriter } from "./definition.ts";
import { bagOfEntries, entriesOf, isBag } from "./json-arrays.ts";

/** Keys to remove from a bag: whole, or something inside their values. */
interface Removal {
  readonly removed: string[];
  readonly inside: Map<string, Removal>;
}

/** The bag without the entries at these paths. `json` must be shared, or a variable of a lambda. */
export function removedKeys(call: CallWriter, json: string, paths: readonly (readonly string[])[]): string {
  const root: Removal = { removed: [], inside: new Map() };
  for (const path of paths) addPath(root, path);
  return without(call, json, root);
}

function addPath(removal: Removal, [key, ...rest]: readonly string[]): void {
  if (key === undefined) return;
  if (rest.length === 0) {
    removal.removed.push(key);
    return;
  }
  const inside = removal.inside.get(key) ?? { removed: [], inside: new Map() };
  removal.inside.set(key, inside);
  addPath(inside, rest);
}

/** Each level is a lambda inside that of the level above, whose `x.2` it reads. */
function without(call: CallWriter, json: string, { removed, inside }: Removal): string {
  const parameter = (key: string) => call.parameter("String", key);
  const all = entriesOf(json);
  const kept =
    removed.length === 0
      ? all
      : `arrayFilter(x -> x.1 NOT IN (${removed.map(parameter).join(", ")}), ${all})`;
  const changed = [...inside].map(
    ([key, removal]) => `x.1 = ${parameter(key)}, if(${isBag("x.2")}, ${without(call, "x.2", removal)}, x.2)`,
  );
  if (changed.length === 0) return bagOfEntries(kept);
  return bagOfEntries(`arrayMap(x -> tuple(x.1, multiIf(${changed.join(", ")}, x.2)), ${kept})`);
}

/**
 * The bag with the value at the path, whose keys and value are SQL that may be used any number of times. What is on
 * the way and no bag becomes one. `json` must be shared, or a variable of a lambda.
 */
export function withKey(json: string, [key, ...rest]: readonly string[], value: string): string {
  if (key === undefined) return value;
  const changed = rest.length === 0 ? value : withKey("x.2", rest, value);
  const added = rest.length === 0 ? value : nested(rest, value);
  const entries = entriesOf(json);
  const replaced = `arrayMap(x -> tuple(x.1, if(x.1 = ${key}, ${changed}, x.2)), ${entries})`;
  const grown = `arrayConcat(${entries}, [tuple(${key}, ${added})])`;
  return bagOfEntries(`if(arrayExists(x -> x.1 = ${key}, ${entries}), ${replaced}, ${grown})`);
}

function nested([key, ...rest]: readonly string[], value: string): string {
  if (key === undefined) return value;
  return `concat('{', toJSONString(${key}), ':', ${nested(rest, value)}, '}')`;
}
