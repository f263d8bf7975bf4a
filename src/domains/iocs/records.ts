import type { Change } from "../../changes/change.ts";
import { putMany } from "../../changes/make-many.ts";
import { Records } from "../../changes/records.ts";
import { removeRecordEntity } from "../../entities/entity-store.ts";
import { broadReason, ownDomains } from "../../entities/indicators/broad-indicator.ts";
import { activateBatch, beginBatch } from "../../entities/indicators/indicator-store.ts";
import {
  type IndicatorType,
  type IndicatorValue,
  readIndicator,
} from "../../entities/indicators/indicator-value.ts";
import { IOCS_MAX } from "../../entities/indicators/limits.ts";
import { validationFailed } from "../../errors.ts";
import { lockOrganization } from "../../storage/organization-transaction.ts";
import { forgetListed } from "./listings.ts";
import { putKeys } from "./put-keys.ts";
import { type CreateIocBody, Ioc, type PutIocBody, type UpdateIocBody } from "./types.ts";

export const iocs = new Records<typeof Ioc, CreateIocBody, UpdateIocBody>({
  noun: "IOC",
  table: "iocs",
  schema: Ioc,
  maxPerOrganization: IOCS_MAX,
});

/**
 * Makes an IOC, or changes the one of its value. One that is about too much needs `force`. Throws VALIDATION_FAILED, and CONFLICT for
 * one too many.
 */
export async function putIoc(
  change: Change,
  { type, value: text, force = false, ...fields }: PutIocBody,
): Promise<{ record: Ioc; isNew: boolean }> {
  const indicator = indicatorOf(type, text);
  const { value, prefixBits } = indicator;
  const { tx, organizationId } = change;
  if (!force) {
    const reason = (await broadReason(await ownDomains(tx, organizationId)))(indicator);
    if (reason !== null)
      throw validationFailed([
        { path: "/value", code: "custom", message: `${reason}; with \`force\` it is taken all the same` },
      ]);
  }
  // Of two calls with one value the second waits, and then finds what the first has made.
  await lockOrganization(tx, organizationId);
  const [known] = await tx<{ id: number; byPerson: boolean }[]>`
    SELECT id::integer, by_person AS "byPerson" FROM iocs
    WHERE organization_id = ${organizationId} AND key = ioc_key(${organizationId}, ${value})`;
  if (known !== undefined) {
    // When feeds let it expire is no word of the person who asks for it now.
    const expiry = known.byPerson ? {} : { expiresAt: null };
    return { record: await confirmIoc(change, known.id, { ...expiry, ...fields }), isNew: false };
  }
  const batchId = await beginBatch(tx, organizationId);
  const made = { type, value, prefixBits, ...fields };
  const record = await iocs.create(change, made);
  await activateBatch(tx, organizationId, batchId);
  return { record, isNew: true };
}

/**
 * The same of many that somebody has looked over, whatever they are about; answers their records in their order. Seals look for all
 * that are new as one batch.
 */
export async function putIocs(change: Change, bodies: readonly CreateIocBody[]): Promise<Ioc[]> {
  const { tx, organizationId } = change;
  const given = bodies.map((body) => ({ ...body, ...indicatorOf(body.type, body.value) }));
  await lockOrganization(tx, organizationId);
  const keys = await putKeys(tx, "iocs", organizationId, given);
  return putMany(given, keys, {
    together: async (some) => {
      const batchId = await beginBatch(tx, organizationId);
      const records = await iocs.createAll(change, some);
      await activateBatch(tx, organizationId, batchId);
      return records;
    },
    alone: async ({ prefixBits: _, ...body }) => (await putIoc(change, { ...body, force: true })).record,
  });
}

/** Changes what a person says of an IOC: from then on no feed does. Throws NOT_FOUND. */
export function confirmIoc(change: Change, id: number, fields: UpdateIocBody): Promise<Ioc> {
  const confirmed = { ...fields, byPerson: true };
  return iocs.update(change, id, confirmed);
}

/** Throws NOT_FOUND. */
export async function removeIoc(change: Change, id: number): Promise<void> {
  await iocs.remove(change, id);
  await forgetListed(change.tx, change.organizationId, id);
  await removeRecordEntity(change.tx, change.organizationId, "ioc", id);
}

/** Throws VALIDATION_FAILED at `/value`. */
export function indicatorOf(type: IndicatorType, text: string): IndicatorValue {
  const reading = readIndicator(type, text);
  if (reading.ok) return reading.indicator;
  throw validationFailed([{ path: "/value", code: "invalid_string", message: reading.message }]);
}
