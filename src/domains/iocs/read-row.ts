import {
  guessIndicator,
  type IndicatorType,
  type IndicatorValue,
  readIndicator,
} from "../../entities/indicators/indicator-value.ts";
import { SEVERITIES, type Severity } from "../../problems/events.ts";
import { storableText } from "../../storage/storable-text.ts";
import type { FileRow } from "./file-row.ts";

/** An indicator with what the file says of it; what it does not say is null. */
export interface FileIndicator extends IndicatorValue {
  readonly severity: Severity | null;
  readonly description: string | null;
  readonly expiresAt: string | null;
  readonly confidence: number | null;
  readonly source: string | null;
}

/** Names of types, in small letters, as feeds have them. */
const TYPES: Readonly<Record<string, IndicatorType>> = {
  ...names(
    "ip",
    "ip ipv4 ipv6 cidr ip-src ip-dst ipv4-addr ipv6-addr ipv4_address ipv6_address address netblock",
  ),
  ...names("domain", "domain hostname host fqdn domain-name"),
  ...names(
    "hash",
    "hash md5 sha1 sha256 sha512 sha-1 sha-256 sha-512 md5_hash sha1_hash sha256_hash file_hash filehash",
  ),
};

/** The indicator, or why the row is none. */
export function readRow(row: FileRow): FileIndicator | string {
  if (row.refusal !== undefined) return row.refusal;
  if (row.value === "") return "has no value";
  const type = TYPES[row.type.toLowerCase()];
  if (row.type !== "" && type === undefined)
    return `is of a type that is not looked for: ${row.type.slice(0, 64)}`;
  const guessed = type === undefined ? guessIndicator(row.value) : null;
  // What is written as a range is meant as one.
  const meant = type ?? (guessed === null && /^[0-9a-f.:]+\/[0-9]+$/i.test(row.value) ? "ip" : undefined);
  if (meant === undefined && guessed === null) return "is no address, no domain and no hash";
  const reading = meant === undefined ? null : readIndicator(meant, row.value);
  if (reading?.ok === false) return reading.message;
  const indicator = reading?.ok ? reading.indicator : guessed;
  if (indicator === null) return "is no indicator";
  const severity = SEVERITIES.find((one) => one === row.severity?.toLowerCase()) ?? null;
  if (row.severity !== undefined && severity === null)
    return "has a severity that is none of low, medium, high, critical";
  const expiresMs = row.expiresAt === undefined ? null : Date.parse(row.expiresAt);
  if (expiresMs !== null && !(expiresMs > 0 && expiresMs < 4e12)) return "has a time of expiry that is none";
  const confidence = row.confidence === undefined ? null : Number(row.confidence);
  if (confidence !== null && !(Number.isInteger(confidence) && confidence >= 0 && confidence <= 100))
    return "has a confidence that is no whole number from 0 to 100";
  return {
    ...indicator,
    severity,
    confidence,
    expiresAt: expiresMs === null ? null : new Date(expiresMs).toISOString(),
    description: textOf(row.description, 2048),
    source: textOf(row.source, 255),
  };
}

function textOf(text: string | undefined, maxChars: number): string | null {
  const cut = storableText([...(text ?? "").trim().slice(0, 2 * maxChars)].slice(0, maxChars).join(""));
  return cut === "" ? null : cut;
}

function names(type: IndicatorType, text: string): Record<string, IndicatorType> {
  return Object.fromEntries(text.split(" ").map((name) => [name, type]));
}
