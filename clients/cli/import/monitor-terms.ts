import type { Imported } from "./imported.ts";
import { slugOf } from "./imported.ts";

const INTERVALS_SEC = [30, 60, 300, 900, 1800, 3600];
const TAG_MAX_CHARS = 50;

/** The interval nearest to one asked for, the shorter of two that are as near; a note where it is another. */
export function intervalOf(seconds: number, notes: string[]): number {
  const nearest = INTERVALS_SEC.reduce((best, each) =>
    Math.abs(each - seconds) < Math.abs(best - seconds) ? each : best,
  );
  if (nearest !== seconds) notes.push(`an interval of ${seconds} s; it is ${nearest} s`);
  return nearest;
}

/** A number within bounds, and a note where they change it. */
export function within(
  value: number,
  [least, most]: readonly [number, number],
  what: string,
  notes: string[],
): number {
  const rounded = Math.min(most, Math.max(least, Math.round(value)));
  if (rounded !== Math.round(value)) notes.push(`${what} of ${value}; it is ${rounded}`);
  return rounded;
}

/** Texts as tags, each once. */
export function tagsOf(texts: readonly (string | null)[]): string[] {
  const tags = texts.map((text) => slugOf(text ?? "").slice(0, TAG_MAX_CHARS));
  return [...new Set(tags.filter((tag) => tag !== ""))].slice(0, 20);
}

/** Headers that say nothing of who asks. */
const OPEN_HEADERS = /^(accept(-.*)?|content-type|user-agent|cache-control|host)$/i;

/** Request headers, those that may let somebody in as secrets. */
export function headersOf(
  entries: readonly (readonly [string, string])[],
  key: string,
  imported: Imported,
): Record<string, unknown> | null {
  if (entries.length === 0) return null;
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      OPEN_HEADERS.test(name) ? value : secretOf(`${key}-header-${name}`, value, imported),
    ]),
  );
}

/** A secret as it is, or of the variable that is all of it. */
function secretOf(name: string, value: string, imported: Imported): { readonly secret: string } {
  const [, variable] = /^\$\{?(\w+)\}?$/.exec(value) ?? [];
  return variable === undefined ? imported.secret(name, value) : { secret: `env:${variable}` };
}

/** The value of an `Authorization` header (RFC 7617). */
export function basicAuthorization(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}

/** Alert channels of one record: of each there is one, and the first is taken. */
export class Channels {
  readonly fields: Record<string, unknown> = {};
  readonly #key: string;
  readonly #imported: Imported;

  constructor(key: string, imported: Imported) {
    this.#key = key;
    this.#imported = imported;
  }

  /** Takes it from a variable of whoever applies the files; false where there is another already. */
  refer(channel: string, variable: string): boolean {
    if (channel in this.fields) return false;
    this.fields[channel] = { secret: `env:${variable}` };
    return true;
  }

  /** False where there is another already. */
  set(channel: string, value: string): boolean {
    if (channel in this.fields) return false;
    this.fields[channel] =
      channel === "alertEmail" ? value : this.#imported.secret(`${this.#key}-${channel}`, value);
    return true;
  }
}

/** The host and port of a URL such as `postgres://user:password@host:5432/name`; null where it names none. */
export function hostAndPort(
  text: string,
  ports: Readonly<Record<string, number>>,
): { host: string; port: number } | null {
  const url = URL.parse(text);
  if (url === null || url.hostname === "") return null;
  const port = url.port === "" ? ports[url.protocol.slice(0, -1)] : Number(url.port);
  return port === undefined ? null : { host: url.hostname.replace(/^\[|\]$/g, ""), port };
}
