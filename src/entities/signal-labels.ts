import type { EntityType } from "./entity-key.ts";
import type { IndicatorType } from "./indicators/indicator-value.ts";

/**
 * How observables and edges stand in `signals`: by a key, so that what is known of one thing is found at once, and under a name that
 * tells apart what the key brings together. Keys of entities have no tab, see `entityKey`; in values of indicators it is replaced here.
 */

/** What had to do with what; an edge is read from both its ends. */
export const SEEN_EDGES = ["runs_on", "logged_in_from", "calls", "uses", "resolved"] as const;
export type SeenEdge = (typeof SEEN_EDGES)[number];

/** One end of an edge, or where an observable was seen. */
export interface EntityName {
  readonly type: EntityType;
  readonly key: string;
}

/** Under which key it is found that a value was seen; also that of an indicator which is looked for. */
export function observableKey(type: IndicatorType, value: string): bigint {
  return Bun.hash.xxHash64(`${type}\t${value}`);
}

export function edgesKey({ type, key }: EntityName): bigint {
  return Bun.hash.xxHash64(`edges\t${type}\t${key}`);
}

export function observableLabel(type: IndicatorType, value: string, where: EntityName): string {
  return joined([type, value, where.type, where.key]);
}

export function edgeLabel(
  kind: SeenEdge,
  direction: "out" | "in",
  self: EntityName,
  other: EntityName,
): string {
  return joined([kind, direction, self.type, self.key, other.type, other.key]);
}

export function labelParts(label: string): readonly string[] {
  return label.split("\t");
}

function joined(parts: readonly string[]): string {
  return parts.map((part) => part.replaceAll("\t", " ")).join("\t");
}
