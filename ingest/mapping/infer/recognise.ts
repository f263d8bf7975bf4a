import type { JsonObject } from "../../decode/json-body.ts";
import { isJsonObject } from "../../decode/json-body.ts";
import { parsePath } from "../path.ts";
import { Places } from "../places.ts";
import type { Preset, Sign } from "../presets/preset.ts";
import { PRESETS } from "../presets/presets.ts";
import { scalarText } from "../value-text.ts";

/** A preset that the records look like. */
export interface Recognised {
  readonly preset: Preset;
  /** 0 to 1. */
  readonly confidence: number;
}

/** The share of the records that must have all signs of a preset. */
const RECORDS_MIN_SHARE = 0.6;
/** Words of names that many products share. */
const COMMON_WORDS = new Set([
  "json",
  "log",
  "logs",
  "audit",
  "events",
  "event",
  "http",
  "cef",
  "webhook",
  "file",
  "system",
]);

type Matches = (record: JsonObject) => boolean;

const SIGNS = PRESETS.map((preset) => ({ preset, matches: preset.signs.map(compileSign) }));
/** The more a preset asks for, and the more exactly, the surer it is. */
const JSON_SIGNS = SIGNS.filter(({ preset }) => preset.format !== "cef").sort(
  (a, b) => proofOf(b.preset) - proofOf(a.preset),
);
/** The header of CEF up to the product, whose pipes may be escaped. */
const CEF_HEADER = /CEF:\d+(?:\.\d+)?\|((?:[^|\\]|\\.)*)\|((?:[^|\\]|\\.)*)\|/;

/** The presets for JSON whose signs the records have, the surest first. */
export function recognise(records: readonly JsonObject[], hint: string): Recognised[] {
  return recogniseAmong(records, hint, false);
}

/** Names of keys -> the presets that have the paths of all their signs in such a record, the surest first. */
const BY_SHAPE = new Map<string, typeof SIGNS>();
/** Shapes that are remembered: a log has a few, and one whose every line has another is begun anew. */
const SHAPES_MAX = 256;

/** The preset for JSON whose signs a record has, the surest one; null when it has those of none. */
export function presetFor(record: JsonObject): Preset | null {
  const shape = Object.keys(record).join(" ");
  let candidates = BY_SHAPE.get(shape);
  if (candidates === undefined) {
    candidates = JSON_SIGNS.filter(({ preset }) => preset.signs.every((sign) => couldHave(record, sign)));
    if (BY_SHAPE.size === SHAPES_MAX) BY_SHAPE.clear();
    BY_SHAPE.set(shape, candidates);
  }
  return candidates.find(({ matches }) => matches.every((sign) => sign(record)))?.preset ?? null;
}

/** Whether the first key of a sign's path is there; what is deeper differs between records of a shape. */
function couldHave(record: JsonObject, sign: Sign): boolean {
  const path = typeof sign === "string" ? sign : sign.path;
  const [first = ""] = parsePath(path) ?? [];
  return Object.hasOwn(record, first) || Object.hasOwn(record, path);
}

/** The presets for CEF whose signs are in the headers of the lines, the surest first. */
export function recogniseCef(lines: readonly string[], hint: string): Recognised[] {
  const headers = lines.map((line) => {
    const [, deviceVendor, deviceProduct] = CEF_HEADER.exec(line) ?? [];
    return { deviceVendor, deviceProduct };
  });
  return recogniseAmong(headers, hint, true);
}

function recogniseAmong(records: readonly JsonObject[], hint: string, isCef: boolean): Recognised[] {
  if (records.length === 0) return [];
  return SIGNS.flatMap(({ preset, matches }) => {
    if ((preset.format === "cef") !== isCef) return [];
    const matching =
      records.filter((record) => matches.every((sign) => sign(record))).length / records.length;
    if (matching < RECORDS_MIN_SHARE) return [];
    // A hint is worth three signs.
    const proof = proofOf(preset) + (isNamedIn(preset, hint) ? 3 : 0);
    return [{ preset, confidence: Math.min(0.99, 0.65 + 0.05 * proof) * (0.5 + 0.5 * matching) }];
  }).sort((a, b) => b.confidence - a.confidence);
}

/** More signs are more proof, and so is a value's form. */
function proofOf({ signs }: Preset): number {
  return signs.length + signs.filter((sign) => typeof sign !== "string").length;
}

/** Whether a hint names the preset, or the product it is for. */
function isNamedIn({ name, title }: Preset, hint: string): boolean {
  const words = new Set(hint.toLowerCase().split(/[^a-z0-9]+/));
  if (hint.toLowerCase().includes(name)) return true;
  const own = name.split("-").filter((word) => !COMMON_WORDS.has(word));
  const product = title.toLowerCase().split(" ")[0] ?? "";
  return (
    (own.length > 0 && own.every((word) => words.has(word))) || (product.length > 3 && words.has(product))
  );
}

function compileSign(sign: Sign): Matches {
  const { path, value: form } = typeof sign === "string" ? { path: sign, value: null } : sign;
  const place = new Places().add(parsePath(path) ?? []);
  return (record) => {
    const value = place.find(record);
    if (value === undefined || value === null) return false;
    if (form === null) return isJsonObject(value) || Array.isArray(value) || scalarText(value) !== "";
    return form.test(scalarText(value) ?? "");
  };
}
