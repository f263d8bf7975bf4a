/** One step of a path into a dynamic value: a key of a bag, or a position in an array, from the end if negative. */
export type PathStep = string | bigint;

const STEP = /\.([\p{L}_@$][\p{L}\p{N}_@$-]*)|\[(?:(-?\d{1,9})|'([^']*)'|"([^"]*)")\]/uy;

/** Reads a path such as `$.key[0]['other key']`; null when it says more than keys and positions. */
export function parseJsonPath(text: string): readonly PathStep[] | null {
  if (!text.startsWith("$")) return null;
  const steps: PathStep[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < text.length) {
    const match = STEP.exec(text);
    if (match === null) return null;
    const [, name, position, quoted, doubleQuoted] = match;
    steps.push(position === undefined ? (name ?? quoted ?? doubleQuoted ?? "") : BigInt(position));
  }
  return steps;
}

/** Reads what functions on bags take for a key: its name, or a path of keys that starts with `$.`; null for another path. */
export function parseBagKey(text: string): readonly string[] | null {
  if (!text.startsWith("$.") && !text.startsWith("$[")) return [text];
  const steps = parseJsonPath(text);
  if (steps === null) return null;
  const keys = steps.filter((step): step is string => typeof step === "string");
  return keys.length === steps.length ? keys : null;
}
