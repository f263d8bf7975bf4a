import { createHash } from "node:crypto";
import { SOURCE_MAX_CHARS } from "../limits.ts";
import type { OpenSession } from "./entry-session.ts";
import { EntryText, type LineFormat } from "./entry-text.ts";
import { plainSessions } from "./plain-session.ts";
import { recognisedSessions } from "./recognised-session.ts";
import { sourceSessions } from "./source-session.ts";
import type { EntryDefaults } from "./written-entry.ts";

/** How the lines of an input become entries, and a digest of all that decides it: part of the keys of requests. */
export interface InputRules {
  readonly openSession: OpenSession;
  readonly digest: string;
}

interface RuleOptions {
  readonly defaults: EntryDefaults;
  readonly format: LineFormat;
  /** In which times count that name no zone. */
  readonly zone: string;
  readonly maxEntries: number;
  /** The configured source that lines are sent through as they are; null for none. */
  readonly sourceKey: string | null;
}

/** The rules for a file, whose path is the source of entries that are given none; null is standard input. */
export function inputRules(
  { defaults, format, zone, maxEntries, sourceKey }: RuleOptions,
  file: string | null,
  sinceMs: number | null,
): InputRules {
  const named =
    file === null ? defaults : { source: [...file].slice(-SOURCE_MAX_CHARS).join(""), ...defaults };
  if (sourceKey !== null)
    return { openSession: sourceSessions, digest: digestOf({ sourceKey, maxEntries, sinceMs }) };
  const entryText = new EntryText(named);
  const isRecognised = format === "auto";
  const openSession = isRecognised ? recognisedSessions(zone, entryText) : plainSessions(format, entryText);
  const decisive = { named, format, ...(isRecognised && { zone }) };
  return { openSession, digest: digestOf({ ...decisive, maxEntries, sinceMs }) };
}

function digestOf(options: object): string {
  return createHash("sha256").update(JSON.stringify(options)).digest("hex").slice(0, 16);
}
