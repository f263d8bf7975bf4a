import { type Place, SigmaRefusal } from "./problem.ts";

/** A map of a document, its names and what stands under them. */
export type SigmaMap = Readonly<Record<string, unknown>>;

export function isMap(value: unknown): value is SigmaMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Throws SigmaRefusal. */
export function requireMap(value: unknown, place: Place): SigmaMap {
  if (!isMap(value)) throw new SigmaRefusal(place, "has to be a map.");
  return value;
}

/** The text of that name; null where there is none. Throws SigmaRefusal for anything else. */
export function textIn(map: SigmaMap, name: string, at: Place = []): string | null {
  const value = map[name];
  if (value === undefined || value === null) return null;
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  throw new SigmaRefusal([...at, name], "has to be a text.");
}

/** The texts of a list, or the one that stands alone; others are left out. */
export function textsIn(map: SigmaMap, name: string): string[] {
  const value = map[name];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((each): each is string => typeof each === "string");
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Seconds of a time such as `5m`. Throws SigmaRefusal. */
export function secondsOf(text: string, place: Place): number {
  const [, count = "", unit = ""] = /^\s*(\d{1,6})\s*([smhdw])\s*$/.exec(text) ?? [];
  const seconds = Number(count) * (SECONDS[unit] ?? 0);
  if (seconds > 0) return seconds;
  throw new SigmaRefusal(place, "has to be a time such as 30s, 5m, 1h or 1d.");
}
