import { ATTRIBUTE_KEY_MAX_CHARS } from "../../limits.ts";
import { entryFieldOf, type FieldMapping, type Mapping, type TimestampMapping } from "../mapping.ts";
import { type Candidate, candidatesFor, FIELDS, type InferredFieldName } from "./candidates.ts";
import type { HintedField } from "./hint.ts";
import type { Leaf } from "./leaves.ts";
import { levelScaleOf } from "./level-scale.ts";
import { timeValuesOf } from "./time-values.ts";

/** Where a field of the entry is proposed to come from. */
export interface Choice {
  readonly field: InferredFieldName;
  readonly candidate: Candidate | null;
  /** The same value for all records, as the hint said it. */
  readonly constant: string | null;
  /** The next best, which is read where the first is missing. */
  readonly second: Candidate | null;
  readonly others: readonly Candidate[];
  readonly isHinted: boolean;
  readonly confidence: number;
  readonly reason: string;
}

/** A message made of what a request's record says. */
export interface RequestTemplate {
  readonly template: string;
  readonly paths: readonly string[];
}

/** A sample proves nothing. */
const CONFIDENCE_MAX = 0.99;
/** A message found in this way says less than a request's method and path do. */
const WEAK_MESSAGE = 0.7;
const METHOD_NAMES = /(^|\.)(method|requestmethod|clientrequestmethod|httpmethod|verb)$/;
/** Of HTTP, and the verbs of Kubernetes. */
const METHODS =
  /^(get|head|post|put|patch|delete|options|connect|trace|list|watch|create|update|deletecollection)$/i;
const PATH_NAMES = /(^|\.)(path|uri|requesturi|requestpath|clientrequesturi|url|requesturl)$/;
const STATUS_NAMES = /(^|\.)(status|statuscode|responsecode|downstreamstatus|edgeresponsestatus|code)$/;
/** A level that is read from such a field is only half of what the field says: it stays an attribute too. */
const LEVEL_ONLY_NAMES = /level|severity|lvl|priority/;

/** Chooses a path for every field, the surest first; what the hint says goes before everything. */
export function chooseFields(leaves: readonly Leaf[], hinted: readonly HintedField[]): Choice[] {
  const taken = new Set(hinted.flatMap(({ leaf }) => leaf?.path ?? []));
  return FIELDS.map((field): Choice => {
    const hint = hinted.find((one) => one.field === field);
    if (hint !== undefined) return hintedChoice(hint, leaves);
    const candidates = candidatesFor(field, leaves).filter(({ leaf }) => !taken.has(leaf.path));
    const [best = null, ...others] = candidates;
    if (best !== null) taken.add(best.leaf.path);
    const second = best !== null && best.leaf.share < 1 ? (others[0] ?? null) : null;
    const found = { field, candidate: best, constant: null, second, others, isHinted: false };
    if (best === null) return { ...found, confidence: 0, reason: "nothing looks like it" };
    return { ...found, confidence: Math.min(CONFIDENCE_MAX, best.score), reason: best.reason };
  });
}

function hintedChoice({ field, leaf, constant }: HintedField, leaves: readonly Leaf[]): Choice {
  const none = { field, second: null, others: [], constant, isHinted: true };
  if (leaf === null) return { ...none, candidate: null, confidence: 0.9, reason: "the hint says this value" };
  const time = field === "timestamp" ? timeValuesOf(leaf) : null;
  const level = field === "level" ? levelScaleOf(leaf, leaves) : null;
  const isReadable = (field !== "timestamp" || time !== null) && (field !== "level" || level !== null);
  return {
    ...none,
    candidate: {
      leaf,
      score: 1,
      reason: "",
      ...(time === null ? {} : { time }),
      ...(level === null ? {} : { level }),
    },
    confidence: isReadable ? CONFIDENCE_MAX : 0.4,
    reason: isReadable
      ? "the hint says this field"
      : "the hint says this field, but its values cannot be read as such",
  };
}

/** The template of a request's record, when it says more than the message that was found; null otherwise. */
export function requestTemplate(leaves: readonly Leaf[], message: Choice): RequestTemplate | null {
  if (message.confidence >= WEAK_MESSAGE) return null;
  const find = (names: RegExp, fits: (leaf: Leaf) => boolean): Leaf | undefined =>
    leaves.find(
      (leaf) => names.test(leaf.fullName) && leaf.texts.length > 0 && !/[{}]/.test(leaf.path) && fits(leaf),
    );
  const method = find(METHOD_NAMES, ({ texts }) => texts.every((text) => METHODS.test(text)));
  // A path beside another thing than the method is not the request's.
  const path = find(
    PATH_NAMES,
    ({ keys }) => method !== undefined && parentOf(keys) === parentOf(method.keys),
  );
  if (method === undefined || path === undefined) return null;
  const status = find(STATUS_NAMES, ({ texts }) => texts.every((text) => /^\d{3}$/.test(text)));
  const paths = [method, path, status].flatMap((leaf) => leaf?.path ?? []);
  return { template: paths.map((at) => `{${at}}`).join(" "), paths };
}

/** The mapping that the choices make. */
export function mappingOf(choices: readonly Choice[], template: RequestTemplate | null): Mapping {
  const fields: Record<string, FieldMapping> = {};
  let timestamp: TimestampMapping | undefined;
  for (const choice of choices) {
    const { field, candidate, constant } = choice;
    if (constant !== null) fields[field] = { const: constant };
    else if (candidate === null) continue;
    else if (field === "timestamp") timestamp = timestampMapping(candidate, choice.second);
    else if (field === "message") {
      if (template === null) fields[field] = { ...paths(choice), default: "" };
    } else if (field === "level") Object.assign(fields, levelFields(candidate));
    else fields[field] = paths(choice);
  }
  return {
    ...(timestamp === undefined ? {} : { timestamp }),
    fields,
    ...(template === null ? {} : { messageTemplate: template.template }),
  };
}

function paths({ candidate, second }: Choice): FieldMapping {
  return {
    ...(candidate === null ? {} : { from: candidate.leaf.path }),
    ...(second === null ? {} : { fromDefault: second.leaf.path }),
  };
}

function timestampMapping({ leaf, time }: Candidate, second: Candidate | null): TimestampMapping {
  const parse = time?.parse ?? "auto";
  if (second === null) return { from: leaf.path, parse };
  return {
    from: leaf.path,
    fromDefault: second.leaf.path,
    parse: parse === second.time?.parse ? parse : "auto",
  };
}

function levelFields({ leaf, level }: Candidate): Record<string, FieldMapping> {
  const { path, fullName } = leaf;
  const mapping: FieldMapping = {
    from: path,
    ...(level?.map == null ? {} : { map: level.map }),
    ...(level?.default == null ? {} : { default: level.default }),
  };
  const saysMore = !LEVEL_ONLY_NAMES.test(fullName) && isAttributeName(path);
  return saysMore ? { level: mapping, [path]: { from: path } } : { level: mapping };
}

function isAttributeName(path: string): boolean {
  return entryFieldOf(path) === null && [...path].length <= ATTRIBUTE_KEY_MAX_CHARS;
}

function parentOf(keys: readonly string[]): string {
  return JSON.stringify(keys.slice(0, -1));
}
