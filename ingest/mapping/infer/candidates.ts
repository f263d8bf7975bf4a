import {
  EVENT_ID_NAMES,
  HOST_NAMES,
  LEVEL_NAMES,
  MESSAGE_NAMES,
  nameScore,
  SERVICE_NAMES,
  SPAN_NAMES,
  TIME_NAMES,
  TRACE_NAMES,
} from "./field-names.ts";
import type { Leaf } from "./leaves.ts";
import { type LevelScale, levelScaleOf } from "./level-scale.ts";
import { type TimeValues, timeValuesOf } from "./time-values.ts";

/** The fields of an entry that are looked for, in the order in which they choose. */
export const FIELDS = [
  "timestamp",
  "level",
  "message",
  "service",
  "host",
  "traceId",
  "spanId",
  "event_id",
] as const;
export type InferredFieldName = (typeof FIELDS)[number];

/** A path that may hold a field of the entry. */
export interface Candidate {
  readonly leaf: Leaf;
  /** 0 to 1. */
  readonly score: number;
  /** Why, in a sentence for people. */
  readonly reason: string;
  readonly time?: TimeValues;
  readonly level?: LevelScale;
}

/** Below this a guess does more harm than a missing field. */
const SCORE_MIN: Readonly<Record<InferredFieldName, number>> = {
  timestamp: 0.3,
  level: 0.4,
  message: 0.3,
  service: 0.4,
  host: 0.45,
  traceId: 0.6,
  spanId: 0.6,
  event_id: 0.6,
};

/** Names of times that are in no list; not of those that say when something ends. */
const TIME_ENDING = /(?<!end|expir\w*|until|update\w*|run|up)(time|timestamp|date)$/;
const TIME_START = /(^|\.)(date|time)\w+$/;
const TIME_ENDING_SCORE = 0.45;
const LEVEL_ENDING = /(severity|level)$/;
const LEVEL_ENDING_SCORE = 0.8;
const STATUS_ENDING = /(status|statuscode|responsecode)$/;
const STATUS_ENDING_SCORE = 0.5;
const UUID = /^\{?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}?$/i;
const ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|[0-9a-f]*:[0-9a-f:]+)(:\d+)?$/i;
const HOST = /^[a-z0-9@]([a-z0-9_.@-]*[a-z0-9])?(:\d{1,5})?$/i;
const NUMBER = /^[\d.,]+$/;
const PROSE = /[a-z]{2,}.* .*[a-z]/i;
const SERVICE_MAX_CHARS = 100;
/** From so many records on, a name of a service that never comes again is none. */
const REPEATED_FROM_RECORDS = 5;
const ID_MIN_CHARS = 8;

/** The candidates for a field, the best first. */
export function candidatesFor(field: InferredFieldName, leaves: readonly Leaf[]): Candidate[] {
  return leaves
    .flatMap((leaf) => candidateOf(field, leaf, leaves) ?? [])
    .map((found) => ({ ...found, score: found.score * (0.6 + 0.4 * found.leaf.share) }))
    .filter(({ score }) => score >= SCORE_MIN[field])
    .sort((a, b) => b.score - a.score);
}

function candidateOf(field: InferredFieldName, leaf: Leaf, leaves: readonly Leaf[]): Candidate | null {
  if (leaf.texts.length === 0) return null;
  switch (field) {
    case "timestamp":
      return timestamp(leaf);
    case "level":
      return level(leaf, leaves);
    case "message":
      return message(leaf);
    case "service":
      return service(leaf);
    case "host":
      return host(leaf);
    case "traceId":
      return hexId(leaf, nameScore(TRACE_NAMES, leaf.fullName), /^[0-9a-f]{16,32}$/i);
    case "spanId":
      return hexId(leaf, nameScore(SPAN_NAMES, leaf.fullName), /^[0-9a-f]{16}$/i);
    case "event_id":
      return eventId(leaf);
  }
}

function timestamp(leaf: Leaf): Candidate | null {
  const time = timeValuesOf(leaf);
  if (time === null) return null;
  const name =
    nameScore(TIME_NAMES, leaf.fullName) || (isNamedLikeTime(leaf.fullName) ? TIME_ENDING_SCORE : 0);
  // Many numbers look like times; a date-time is one whatever it is called.
  if (time.isNumber && name === 0) return null;
  const byName = time.isNumber ? 0.3 + 0.68 * name : 0.4 + 0.58 * name;
  const named = name > 0 ? "the name says a time and " : "";
  return {
    leaf,
    score: byName + 0.002 * time.precision,
    reason: `${named}the values are ${time.described}`,
    time,
  };
}

function isNamedLikeTime(fullName: string): boolean {
  return TIME_ENDING.test(fullName) || TIME_START.test(fullName);
}

function level(leaf: Leaf, leaves: readonly Leaf[]): Candidate | null {
  const scale = levelScaleOf(leaf, leaves);
  if (scale === null) return null;
  const name = nameScore(LEVEL_NAMES, leaf.fullName) || levelEndingScore(leaf.fullName, scale);
  if (name === 0) return null;
  return {
    leaf,
    score: (0.3 + 0.7 * name) * scale.fit,
    reason: `the name says a level and the values are ${scale.described}`,
    level: scale,
  };
}

/** A level of something else, of water or a battery, is a number. */
function levelEndingScore(fullName: string, { map, default: otherwise }: LevelScale): number {
  if (otherwise !== null) return STATUS_ENDING.test(fullName) ? STATUS_ENDING_SCORE : 0;
  return map === null && LEVEL_ENDING.test(fullName) ? LEVEL_ENDING_SCORE : 0;
}

function message(leaf: Leaf): Candidate | null {
  if (!leaf.isText || /agent|stack|trace|header|cookie|token|uuid/.test(leaf.fullName)) return null;
  const { texts } = leaf;
  if (texts.every((text) => NUMBER.test(text) || UUID.test(text)) || timeValuesOf(leaf) !== null) return null;
  const name = nameScore(MESSAGE_NAMES, leaf.fullName);
  const prose = texts.filter((text) => PROSE.test(text)).length / texts.length;
  if (name > 0)
    return {
      leaf,
      score: name * 0.85 + prose * 0.14,
      reason: "the name says a message and the values are texts",
    };
  if (nameScore(SERVICE_NAMES, leaf.fullName) > 0 || nameScore(HOST_NAMES, leaf.fullName) > 0) return null;
  const isLong = texts.reduce((sum, text) => sum + text.length, 0) / texts.length > 20;
  return prose === 1 && isLong ? { leaf, score: 0.35, reason: "the values are sentences" } : null;
}

function service(leaf: Leaf): Candidate | null {
  const name = nameScore(SERVICE_NAMES, leaf.fullName);
  if (name === 0 || !leaf.isText || !leaf.texts.every(isName)) return null;
  const isRepeated =
    leaf.texts.length < REPEATED_FROM_RECORDS || new Set(leaf.texts).size < leaf.texts.length;
  return {
    leaf,
    score: 0.97 * name * (isRepeated ? 1 : 0.5),
    reason: "the name says a program and the values are short names",
  };
}

function isName(text: string): boolean {
  return (
    text.length <= SERVICE_MAX_CHARS &&
    !NUMBER.test(text) &&
    !UUID.test(text) &&
    !ADDRESS.test(text) &&
    text.split(" ").length <= 4 &&
    !/[\n@]$/.test(text)
  );
}

function host(leaf: Leaf): Candidate | null {
  const name = nameScore(HOST_NAMES, leaf.fullName);
  // The host of a request is a name of the service, not the machine.
  if (name === 0 || !leaf.isText || /request|url|http/.test(leaf.fullName)) return null;
  if (!leaf.texts.every((text) => HOST.test(text) && !NUMBER.test(text.replace(ADDRESS, "a")))) return null;
  return { leaf, score: 0.97 * name, reason: "the name says a machine and the values are names of hosts" };
}

function hexId(leaf: Leaf, name: number, form: RegExp): Candidate | null {
  if (name === 0 || !leaf.texts.every((text) => form.test(text))) return null;
  return { leaf, score: 0.97 * name, reason: "the name says it and the values are hexadecimal digits" };
}

/** Only what never repeats: entries that share an event id are stored once. */
function eventId(leaf: Leaf): Candidate | null {
  const name = nameScore(EVENT_ID_NAMES, leaf.fullName);
  const { texts } = leaf;
  if (name === 0 || leaf.share < 1 || new Set(texts).size < texts.length) return null;
  if (!leaf.isText || texts.some((text) => text.length < ID_MIN_CHARS || !/\d/.test(text) || / /.test(text)))
    return null;
  const isSafe =
    texts.length > 1 || texts.every((text) => UUID.test(text) || text.length >= 2 * ID_MIN_CHARS);
  return {
    leaf,
    score: (isSafe ? 0.95 : 0.7) * name,
    reason:
      texts.length > 1
        ? "every record has another value"
        : "the value looks unique; one record cannot prove it",
  };
}
