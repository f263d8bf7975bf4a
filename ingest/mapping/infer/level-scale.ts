import { levelOfText } from "../../record/levels.ts";
import { HTTP_STATUS_LEVELS } from "../presets/http-status.ts";
import { SYSLOG_SEVERITIES } from "../presets/linux.ts";
import type { Leaf } from "./leaves.ts";

/** How the values of a field become levels. */
export interface LevelScale {
  /** What a mapping has to translate; null when the words are levels already. */
  readonly map: Readonly<Record<string, string>> | null;
  readonly default: string | null;
  /** How sure it is that these values are levels at all, whatever the field is called: 0 to 1. */
  readonly fit: number;
  /** For people. */
  readonly described: string;
}

/** Values in a `map` that is proposed. */
const MAP_MAX_COUNT = 64;

/** Words beside those that are levels everywhere, as products use them. In lower case. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ["normal", "info"],
  ["low", "info"],
  ["ok", "info"],
  ["passed", "info"],
  ["succeeded", "info"],
  ["audit_success", "info"],
  ["http", "info"],
  ["medium", "warn"],
  ["moderate", "warn"],
  ["minor", "warn"],
  ["fail", "warn"],
  ["failed", "warn"],
  ["denied", "warn"],
  ["audit_failure", "warn"],
  ["high", "error"],
  ["major", "error"],
  ["page", "error"],
  ["exception", "error"],
  ["very-high", "fatal"],
  ["blocker", "fatal"],
]);

/** Words for levels that mostly mean something else. */
const VAGUE_WORDS = new Set([
  ...["log", "note", "default", "all", "config", "fine", "alert"],
  ...["t", "v", "d", "i", "n", "w", "e", "f", "c"],
]);

interface NumberScale {
  readonly described: string;
  /** Plain names of fields that use it. */
  readonly names: RegExp;
  /** A field that must be there too. */
  readonly beside?: RegExp;
  readonly levels: Readonly<Record<string, string>>;
  readonly default?: string;
  readonly fit: number;
}

/** Numeric scales; the first whose names and numbers fit is taken. */
const NUMBER_SCALES: readonly NumberScale[] = [
  {
    // Source: Wazuh documentation, rules classification (0 to 16).
    described: "levels of alert rules, 0 to 16",
    names: /(^|\.)rule\.level$/,
    levels: Object.fromEntries(
      Array.from({ length: 17 }, (_, i) => [
        String(i),
        i < 7 ? "info" : i < 12 ? "warn" : i < 15 ? "error" : "fatal",
      ]),
    ),
    fit: 0.8,
  },
  {
    // Source: Python logging, levels.
    described: "Python's numbers",
    names: /levelno/,
    levels: { "10": "debug", "20": "info", "30": "warn", "40": "error", "50": "fatal" },
    fit: 0.95,
  },
  {
    // Source: pino and bunyan, levels.
    described: "the numbers of pino and bunyan",
    names: /level|lvl|severity/,
    levels: { "10": "trace", "20": "debug", "30": "info", "40": "warn", "50": "error", "60": "fatal" },
    fit: 0.95,
  },
  {
    // Source: Monolog, levels.
    described: "the numbers of Monolog",
    names: /level|severity/,
    levels: {
      "100": "debug",
      "200": "info",
      "250": "info",
      "300": "warn",
      "400": "error",
      "500": "fatal",
      "550": "fatal",
      "600": "fatal",
    },
    fit: 0.85,
  },
  {
    // Source: logback, Level.
    described: "the numbers of Logback",
    names: /level/,
    levels: { "5000": "trace", "10000": "debug", "20000": "info", "30000": "warn", "40000": "error" },
    fit: 0.85,
  },
  {
    // Source: winmeta.xml, standard levels of Windows events; Azure's resource logs use them too.
    described: "the levels of Windows events",
    names: /level/,
    beside: /^(eventid|winlog\.eventid|resultsignature|operationname)$/,
    levels: { "0": "info", "1": "fatal", "2": "error", "3": "warn", "4": "info", "5": "debug" },
    fit: 0.85,
  },
  {
    described: "severities of syslog",
    names: /level|lvl|severity|priority/,
    levels: SYSLOG_SEVERITIES,
    fit: 0.8,
  },
  {
    // Source: OpenTelemetry logs data model, SeverityNumber.
    described: "severity numbers of OpenTelemetry",
    names: /severitynumber/,
    levels: Object.fromEntries(
      ["trace", "debug", "info", "warn", "error", "fatal"].flatMap((level, i) =>
        [1, 2, 3, 4].map((step) => [String(i * 4 + step), level]),
      ),
    ),
    fit: 0.8,
  },
  {
    described: "HTTP status codes",
    names: /status|responsecode|httpcode/,
    levels: HTTP_STATUS_LEVELS,
    default: "info",
    fit: 0.75,
  },
];
const STATUS_CODE = /^[1-5]\d\d$/;

/** How the values of one of the fields would become levels; null when they would not. */
export function levelScaleOf(leaf: Leaf, leaves: readonly Leaf[]): LevelScale | null {
  if (leaf.texts.length === 0) return null;
  return leaf.texts.every((text) => /^\d{1,5}$/.test(text))
    ? numberScale(leaf, leaves)
    : wordScale(leaf.texts);
}

function numberScale({ texts, fullName }: Leaf, leaves: readonly Leaf[]): LevelScale | null {
  const scale = NUMBER_SCALES.find(
    ({ names, beside, levels, default: otherwise }) =>
      names.test(fullName) &&
      (beside === undefined || leaves.some((other) => beside.test(other.fullName))) &&
      texts.every(
        (text) => Object.hasOwn(levels, text) || (otherwise !== undefined && STATUS_CODE.test(text)),
      ),
  );
  if (scale === undefined) return null;
  return { map: scale.levels, default: scale.default ?? null, fit: scale.fit, described: scale.described };
}

function wordScale(texts: readonly string[]): LevelScale | null {
  const different = [...new Set(texts)];
  const strange = different.filter((text) => levelOfText(text) === null);
  if (strange.length === 0) {
    const isVague = different.every((text) => VAGUE_WORDS.has(text.trim().toLowerCase()));
    return { map: null, default: null, fit: isVague ? 0.6 : 1, described: "words for levels" };
  }
  const map = strange.flatMap((text) => {
    const word = text.trim().toLowerCase();
    const level = WORDS.get(word);
    return level === undefined ? [] : [[text, level] as const];
  });
  if (map.length < strange.length || map.length > MAP_MAX_COUNT) return null;
  return {
    map: Object.fromEntries(map),
    default: null,
    fit: strange.length < different.length ? 0.9 : 0.7,
    described: "words that stand for levels",
  };
}
