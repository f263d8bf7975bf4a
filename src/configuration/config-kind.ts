import type { TransactionSql } from "postgres";
import type { Static, TObject, TSchema } from "typebox";
import type { Role, Scope } from "../access/principal.ts";
import type { JsonObject, JsonValue } from "../audit/canonical-json.ts";
import type { Change } from "../changes/change.ts";
import { type FieldIssue, validationFailed } from "../errors.ts";
import { compileSchema } from "../http/validate.ts";
import { isJsonObject } from "./json.ts";
import { normalTimes } from "./normal-times.ts";

/** Fields that hold the id of a person, whom files call by the email address. */
export const PEOPLE = "people";

/** A place in a record that holds the id of another. */
interface ConfigReference {
  /** Names from the record down, `*` for each item of a list: of steps `["steps", "*", "scheduleId"]`. */
  readonly at: readonly string[];
  /** The kind of record that it names, or `PEOPLE`. */
  readonly to: string;
}

/** A record as it is, all its fields as the body of POST has them: what is not set is null, secrets are in the clear. */
export interface LiveRecord {
  readonly id: string;
  readonly fields: JsonObject;
}

interface KindAccess {
  readonly role: Role;
  readonly scope: Scope;
}

/**
 * A kind of record that files can describe: how it is read and changed by the verbs that its routes call, in a transaction that
 * is open. Ids and bodies are those of the API.
 */
export interface ConfigKind {
  /** What files call it, the last part of the path of its collection: `log-alerts`. */
  readonly kind: string;
  /** What the audit log calls it, after CREATE_, UPDATE_ and DELETE_. */
  readonly audit: string;
  /** Its table, whose rows are locked before they are compared; null for what is changed under the lock of the organisation alone. */
  readonly table: string | null;
  readonly read: KindAccess;
  readonly write: KindAccess;
  /** The fields by which people tell records apart. */
  readonly naming: readonly string[];
  /** Fields that nobody is shown. */
  readonly secrets: readonly string[];
  /** Fields that no record changes: another value is another record. */
  readonly immutable: readonly string[];
  readonly references: readonly ConfigReference[];
  /** Names of records of this kind that a record calls in its texts; they have to be there before it. */
  readonly calls: ((fields: JsonObject) => readonly string[]) | null;
  /** What the schema says is wrong with fields, in which null stands for what is not set. */
  readonly issues: (fields: JsonObject) => FieldIssue[];
  /** All fields in their one spelling, those that are not given as they are by default. */
  readonly complete: (fields: JsonObject, nowMs: number) => JsonObject;
  /** Oldest first, at most `limit`. */
  readonly list: (tx: TransactionSql, organizationId: number, limit: number) => Promise<LiveRecord[]>;
  /** Makes records, none of which needs another of them, and answers their ids in their order. What one is refused with, all are. */
  readonly create: (change: Change, all: readonly JsonObject[]) => Promise<string[]>;
  /** Sets the fields that are given. */
  readonly update: (change: Change, id: string, patch: JsonObject) => Promise<void>;
  readonly remove: (change: Change, id: string) => Promise<void>;
}

interface ConfigKindSpec<C extends TObject, U extends TObject> {
  readonly kind: string;
  readonly audit: string;
  readonly table: string | null;
  readonly read: KindAccess;
  readonly write: KindAccess;
  /** The bodies of POST and PATCH. What PATCH lacks is immutable. */
  readonly create: C;
  readonly update: U;
  /** What a record has that does not say otherwise; null where this says nothing. */
  readonly defaults?: object;
  /** `name` where nothing is said. */
  readonly naming?: readonly string[];
  readonly secrets?: readonly string[];
  /** Immutable although PATCH has them. */
  readonly immutable?: readonly string[];
  readonly references?: readonly ConfigReference[];
  readonly calls?: (fields: JsonObject) => readonly string[];
  /** Puts complete fields into the spelling in which the record has them. */
  readonly canonical?: (fields: JsonObject, nowMs: number) => JsonObject;
  readonly list: (
    tx: TransactionSql,
    organizationId: number,
    limit: number,
  ) => Promise<readonly { readonly id: number | string; readonly fields: object }[]>;
  /** In their order. */
  readonly make: (
    change: Change,
    bodies: readonly Static<C>[],
  ) => Promise<readonly { readonly id: number | string }[]>;
  readonly change: (change: Change, id: string, body: Static<U>) => Promise<unknown>;
  readonly remove: (change: Change, id: string) => Promise<void>;
}

/** A kind of record of the schemas of its routes and the verbs that these call. */
export function configKind<C extends TObject, U extends TObject>(spec: ConfigKindSpec<C, U>): ConfigKind {
  const { kind, audit, table, read, write, naming = ["name"], secrets = [], references = [] } = spec;
  const names = Object.keys(spec.create.properties);
  const creating = bodyReader(spec.create);
  const updating = bodyReader(spec.update);
  const empty: JsonObject = Object.fromEntries(names.map((name) => [name, null]));
  const defaults: JsonObject = { ...empty, ...ofNames(names, jsonOf(spec.defaults ?? {})) };
  const complete = (fields: JsonObject, nowMs: number): JsonObject => {
    const whole = { ...defaults, ...present(ofNames(names, fields)) };
    const normal = Object.fromEntries(
      names.map((name) => [name, normalTimes(spec.create.properties[name], whole[name] ?? null)]),
    );
    return spec.canonical === undefined ? normal : spec.canonical(normal, nowMs);
  };
  return {
    ...{ kind, audit, table, read, write, naming, secrets, references, complete },
    immutable: [...(spec.immutable ?? []), ...names.filter((name) => !(name in spec.update.properties))],
    calls: spec.calls ?? null,
    issues: (fields) => creating.issues(present(fields)),
    list: async (tx, organizationId, limit) =>
      (await spec.list(tx, organizationId, limit)).map(({ id, fields }) => ({
        id: String(id),
        fields: jsonOf(fields),
      })),
    create: async (change, all) => {
      const bodies = all.map((fields) => creating.read(present(fields)));
      return (await spec.make(change, bodies)).map(({ id }) => String(id));
    },
    update: async (change, id, patch) => {
      await spec.change(change, id, updating.read(patch));
    },
    remove: spec.remove,
  };
}

/** Reads JSON as a body of a schema. Throws VALIDATION_FAILED as a route does. */
export function bodyReader<S extends TSchema>(schema: S) {
  const checker = compileSchema(schema);
  return {
    issues: (value: JsonObject): FieldIssue[] => (checker.check(value) ? [] : checker.issues(value)),
    read: (value: JsonValue): Static<S> => {
      if (checker.check(value)) return value;
      throw validationFailed(checker.issues(value));
    },
  };
}

/** The fields that are set. */
export function present(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function ofNames(names: readonly string[], fields: JsonObject): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (name in fields ? [[name, fields[name] ?? null]] : [])));
}

/** What of an object is JSON: what is undefined is not there. */
export function jsonOf(fields: object): JsonObject {
  const value: unknown = JSON.parse(JSON.stringify(fields));
  if (isJsonObject(value)) return value;
  throw new Error("a record is no object");
}
