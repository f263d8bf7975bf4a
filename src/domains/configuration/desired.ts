import type { JsonObject, JsonValue } from "../../audit/canonical-json.ts";
import { type ConfigKind, PEOPLE } from "../../configuration/config-kind.ts";
import { isJsonList, isJsonObject } from "../../configuration/json.ts";
import type { FieldIssue } from "../../errors.ts";
import { pointerTo } from "../../http/json-pointer.ts";
import { mapReferences, referenceOf } from "./fields.ts";
import { KEY_MAX_CHARS, RECORDS_MAX } from "./limits.ts";

/** A record as files want it. */
export interface DesiredRecord {
  readonly kind: ConfigKind;
  readonly key: string;
  /** What its key was. */
  readonly movedFrom: string | null;
  /** Every field; references as files write them, people by their address, secrets in the clear. */
  readonly fields: JsonObject;
  /** Secrets that stay what they are. */
  readonly kept: ReadonlySet<string>;
  /** Where it stands in the body. */
  readonly at: string;
}

interface Reading {
  readonly desired: readonly DesiredRecord[];
  readonly issues: readonly FieldIssue[];
}

const KEY = new RegExp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,${KEY_MAX_CHARS - 1}}$`);

/** Reads what files describe, and says of everything that is wrong where it stands. `emails` are those of members. */
export function readDesired(
  resources: unknown,
  kinds: ReadonlyMap<string, ConfigKind>,
  emails: ReadonlyMap<string, number>,
  nowMs: number,
): Reading {
  const desired: DesiredRecord[] = [];
  const issues: FieldIssue[] = [];
  const groups = isJsonObject(resources) ? Object.entries(resources) : [];
  const count = groups.reduce((sum, [, records]) => sum + Object.keys(records ?? {}).length, 0);
  if (count > RECORDS_MAX)
    return { desired, issues: [tooMany(`has ${count} records; ${RECORDS_MAX} are the most`)] };
  // What texts name, such as functions in a query, has no reference: kinds stand in the order of their needs.
  const places = new Map([...kinds.keys()].map((name, place) => [name, place]));
  const placeOf = ([name]: readonly [string, unknown]): number => places.get(name) ?? places.size;
  for (const [name, records] of groups.toSorted((left, right) => placeOf(left) - placeOf(right))) {
    const at = `/resources${pointerTo(name)}`;
    const kind = kinds.get(name);
    if (kind === undefined) {
      issues.push({ path: at, code: "unrecognized_keys", message: unknownKind(kinds) });
      continue;
    }
    for (const [key, record] of Object.entries(isJsonObject(records) ? records : {})) {
      const reader = new RecordReader(kind, key, `${at}${pointerTo(key)}`, emails);
      const read = isJsonObject(record) ? reader.read(record, nowMs) : null;
      issues.push(...reader.issues);
      if (read !== null) desired.push(read);
    }
  }
  return { desired, issues };
}

/** Reads one record. */
class RecordReader {
  readonly issues: FieldIssue[] = [];
  readonly #kind: ConfigKind;
  readonly #key: string;
  readonly #at: string;
  readonly #emails: ReadonlyMap<string, number>;

  constructor(kind: ConfigKind, key: string, at: string, emails: ReadonlyMap<string, number>) {
    this.#kind = kind;
    this.#key = key;
    this.#at = at;
    this.#emails = emails;
  }

  /** Null where something is wrong, which `issues` says. */
  read({ moved, ...given }: JsonObject, nowMs: number): DesiredRecord | null {
    const [kind, key, at] = [this.#kind, this.#key, this.#at];
    if (!KEY.test(key))
      this.#wrong("", "has a key of other than letters, digits, dots, hyphens and underscores, or too long");
    const movedFrom = moved === undefined ? null : this.#movedFrom(moved);
    const kept = new Set<string>();
    const fields = Object.fromEntries(
      Object.entries(given).flatMap(([name, value]): [string, JsonValue][] => {
        if (isKept(value) && kind.secrets.includes(name)) {
          kept.add(name);
          return [];
        }
        return [[name, this.#opened(value, pointerTo(name), kind.secrets.includes(name))]];
      }),
    );
    const numbers = new Map<string, number>();
    const numbered = mapReferences(kind, fields, (found, to, place) =>
      this.#numbered(found, to, place, numbers),
    );
    // Nobody has to hear twice of one place.
    const places = new Set(this.issues.map(({ path }) => path));
    for (const issue of kind.issues(numbered)) {
      const path = `${at}${issue.path}`;
      if (!places.has(path)) this.issues.push({ ...issue, path });
    }
    if (this.issues.length > 0) return null;
    return { kind, key, movedFrom, fields: kind.complete(fields, nowMs), kept, at };
  }

  /** A number that the schema takes in place of a reference, the same for the same one. */
  #numbered(found: JsonValue, to: string, place: string, numbers: Map<string, number>): JsonValue {
    const name = to === PEOPLE ? this.#person(found, place) : this.#reference(found, to, place);
    if (name === null) return found;
    const number = numbers.get(name) ?? numbers.size + 1;
    numbers.set(name, number);
    return number;
  }

  #person(found: JsonValue, place: string): string | null {
    if (typeof found !== "string") return null;
    if (!this.#emails.has(found.toLowerCase()))
      this.#wrong(place, "is the address of no member of the organisation");
    return found.toLowerCase();
  }

  #reference(found: JsonValue, to: string, place: string): string | null {
    const reference = referenceOf(found);
    if (reference !== null && !reference.startsWith(`${to}/`))
      this.#wrong(place, `has to name one of ${to}, as in { ref: ${to}/KEY }`);
    return reference;
  }

  #movedFrom(moved: JsonValue): string | null {
    if (isJsonObject(moved) && Object.keys(moved).length === 1 && typeof moved.from === "string")
      return moved.from;
    this.#wrong("/moved", "has to be { from: KEY }, where KEY is what it was called before");
    return null;
  }

  /** A value with what stands behind `secret` in place of it; what only looks so is left to the schema. */
  #opened(value: JsonValue, place: string, isSecret: boolean): JsonValue {
    if (isJsonList(value))
      return value.map((item, index) => this.#opened(item, `${place}/${index}`, isSecret));
    if (!isJsonObject(value)) return value;
    const secret = secretOf(value);
    if (secret === null)
      return Object.fromEntries(
        Object.entries(value).map(([name, member]) => [
          name,
          this.#opened(member, place + pointerTo(name), isSecret),
        ]),
      );
    if (!isSecret) this.#wrong(place, "is shown to whoever reads the record: a secret cannot stand here");
    return secret;
  }

  #wrong(place: string, message: string): void {
    this.issues.push({ path: `${this.#at}${place}`, code: "custom", message });
  }
}

/** What clients send for a secret: `{ secret: { value } }`; null for anything else. */
function secretOf(value: JsonObject): string | null {
  const { secret } = value;
  if (secret === undefined || !isJsonObject(secret) || Object.keys(value).length > 1) return null;
  return typeof secret.value === "string" && Object.keys(secret).length === 1 ? secret.value : null;
}

function isKept(value: JsonValue): boolean {
  return isJsonObject(value) && Object.keys(value).length === 1 && value.secret === "kept";
}

function unknownKind(kinds: ReadonlyMap<string, ConfigKind>): string {
  return `is no kind of record; there are ${[...kinds.keys()].join(", ")}`;
}

function tooMany(message: string): FieldIssue {
  return { path: "/resources", code: "too_big", message };
}
