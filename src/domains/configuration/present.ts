import type { TransactionSql } from "postgres";
import type { JsonObject } from "../../audit/canonical-json.ts";
import type { ConfigKind, LiveRecord } from "../../configuration/config-kind.ts";
import { ApiError } from "../../errors.ts";
import { memberAddresses } from "../../on-call/rotation-store.ts";
import { type Binding, readBindings } from "./bindings.ts";
import type { Fingerprints } from "./fields.ts";
import { LISTED_MAX } from "./limits.ts";
import type { Present } from "./plan.ts";

/** What reading the present needs. */
export interface Reading {
  readonly tx: TransactionSql;
  readonly organizationId: number;
  readonly nowMs: number;
  readonly fingerprints: Fingerprints;
}

interface People {
  readonly emailOf: (userId: number) => string | null;
  /** Ids by addresses in small letters. */
  readonly emails: ReadonlyMap<string, number>;
}

/** The members of the organisation, who have addresses in files and ids in records. */
export async function readPeople({ tx, organizationId }: Reading): Promise<People> {
  const addresses = await memberAddresses(tx, organizationId);
  const emails = new Map([...addresses].map(([id, email]) => [email.toLowerCase(), id]));
  return { emailOf: (userId) => addresses.get(userId)?.toLowerCase() ?? null, emails };
}

/** The records of a kind, oldest first, complete and with their secrets. Throws CONFLICT where there are too many. */
export async function listLive(
  { tx, organizationId, nowMs }: Reading,
  kind: ConfigKind,
): Promise<LiveRecord[]> {
  const records = await kind.list(tx, organizationId, LISTED_MAX + 1);
  if (records.length > LISTED_MAX)
    throw new ApiError(
      "CONFLICT",
      `There are more than ${LISTED_MAX} ${kind.kind}: too many to be described by files.`,
    );
  return records.map(({ id, fields }) => ({ id, fields: kind.complete(fields, nowMs) }));
}

/** What keys stand for, as far as this server knows the kinds. */
export async function bindingsOf(
  { tx, organizationId, nowMs }: Reading,
  kinds: ReadonlyMap<string, ConfigKind>,
): Promise<Binding[]> {
  return (await readBindings(tx, organizationId)).flatMap((binding) => {
    const kind = kinds.get(binding.kind);
    return kind === undefined ? [] : [{ ...binding, base: kind.complete(binding.base, nowMs) }];
  });
}

/** Records by id, with fingerprints in place of secrets. */
export function sealedById(
  { fingerprints, organizationId }: Reading,
  kind: ConfigKind,
  records: readonly LiveRecord[],
): ReadonlyMap<string, JsonObject> {
  return new Map(records.map(({ id, fields }) => [id, fingerprints.sealed(kind, organizationId, fields)]));
}

/** How the records of some kinds are. */
export async function readPresent(
  reading: Reading,
  bindings: readonly Binding[],
  compared: readonly ConfigKind[],
  { emailOf }: People,
): Promise<Present & { readonly clear: ReadonlyMap<string, JsonObject> }> {
  const live = new Map<ConfigKind, ReadonlyMap<string, JsonObject>>();
  const clear = new Map<string, JsonObject>();
  for (const kind of compared) {
    const records = await listLive(reading, kind);
    live.set(kind, sealedById(reading, kind, records));
    for (const { id, fields } of records) clear.set(`${kind.kind}/${id}`, fields);
  }
  return { bindings, live, clear, emailOf };
}
