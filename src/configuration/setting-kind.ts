import type { TransactionSql } from "postgres";
import type { Static, TObject } from "typebox";
import { canonicalJson, type JsonObject } from "../audit/canonical-json.ts";
import type { Change } from "../changes/change.ts";
import { type FieldIssue, validationFailed } from "../errors.ts";
import { bodyReader, type ConfigKind, configKind, jsonOf, present } from "./config-kind.ts";
import { oneByOne } from "./record-kinds.ts";

interface SettingKindSpec<B extends TObject>
  extends Pick<
    Parameters<typeof configKind<B, B>>[0],
    "kind" | "read" | "write" | "defaults" | "secrets" | "references" | "canonical"
  > {
  /** Of the route that sets it, the only one there is. */
  readonly action: string;
  /** What may be said, none of it needed. */
  readonly body: B;
  /** As it is, whether anybody has set it or not; what is not set is null or as by default. */
  readonly find: (tx: TransactionSql, organizationId: number) => Promise<object>;
  /** Sets all of it. Locks the organisation. */
  readonly put: (change: Change, body: Static<B>) => Promise<unknown>;
}

/**
 * A setting of which an organisation has one, as a kind of record: it is there where it is other than by default, and to delete it is
 * to set it back to that. What locks it is the lock of the organisation, under which an apply works.
 */
export function settingKind<B extends TObject>(spec: SettingKindSpec<B>): ConfigKind {
  const { action, body, find, put, ...shape } = spec;
  const reader = bodyReader(body);
  const wholeOf = (fields: object): JsonObject => kind.complete(jsonOf(fields), 0);
  const isSet = (fields: object): boolean => canonicalJson(wholeOf(fields)) !== canonicalJson(wholeOf({}));
  const found = async (tx: TransactionSql, organizationId: number) => {
    const fields = await find(tx, organizationId);
    return isSet(fields) ? [{ id: organizationId, fields }] : [];
  };
  const set = async (change: Change, fields: JsonObject): Promise<void> => {
    await put(under(change, action), reader.read(present(fields)));
  };
  const say = async (change: Change, fields: JsonObject): Promise<void> => {
    if (!isSet(fields)) throw validationFailed([SAYS_NOTHING]);
    await set(change, fields);
  };
  const kind = configKind<B, B>({
    ...shape,
    ...{ audit: action, table: null, naming: [], create: body, update: body, list: found },
    make: oneByOne(async (change, fields) => {
      const { tx, organizationId } = change;
      if ((await found(tx, organizationId)).length > 0) throw validationFailed([IS_SECOND]);
      await say(change, jsonOf(fields));
      return { id: organizationId };
    }),
    change: async (change, _id, patch) => {
      const before = wholeOf(await find(change.tx, change.organizationId));
      await say(change, { ...before, ...jsonOf(patch) });
    },
    remove: (change) => set(change, wholeOf({})),
  });
  return kind;
}

const SAYS_NOTHING: FieldIssue = {
  path: "/",
  code: "custom",
  message: "says nothing but what holds by default: leave it out",
};
const IS_SECOND: FieldIssue = {
  path: "/",
  code: "custom",
  message: "is a second one of what an organisation has one of",
};

/** The same change under one action of the audit log. */
function under(
  { tx, organizationId, actor, nowMs, afterCommit, emit, record }: Change,
  action: string,
): Change {
  return {
    ...{ tx, organizationId, actor, nowMs, afterCommit, emit },
    record: (entry) => record(entry, action),
  };
}
