import type { Change } from "../../changes/change.ts";
import { Records } from "../../changes/records.ts";
import { removeRecordEntity } from "../../entities/entity-store.ts";
import { activateBatch, beginBatch } from "../../entities/indicators/indicator-store.ts";
import {
  type IndicatorType,
  type IndicatorValue,
  readIndicator,
} from "../../entities/indicators/indicator-value.ts";
import { IOCS_MAX } from "../../entities/indicators/limits.ts";
import { validationFailed } from "../../errors.ts";
import { lockOrganization } from "../../storage/organization-transaction.ts";
import { type CreateIocBody, Ioc, type UpdateIocBody } from "./types.ts";

export const iocs = new Records<typeof Ioc, CreateIocBody, UpdateIocBody>({
  noun: "IOC",
  table: "iocs",
  schema: Ioc,
  maxPerOrganization: IOCS_MAX,
});

/** Makes an IOC, or changes the one of its value. Throws VALIDATION_FAILED, and CONFLICT for one too many. */
export async function putIoc(
  change: Change,
  { type, value: text, ...fields }: CreateIocBody,
): Promise<{ record: Ioc; isNew: boolean }> {
  const { value, prefixBits } = indicatorOf(type, text);
  const { tx, organizationId } = change;
  // Of two calls with one value the second waits, and then finds what the first has made.
  await lockOrganization(tx, organizationId);
  const [known] = await tx<{ id: number; byPerson: boolean }[]>`
    SELECT id::integer, by_person AS "byPerson" FROM iocs WHERE organization_id = ${organizationId} AND type = ${type} AND value = ${value}`;
  if (known !== undefined) {
    // When feeds let it expire is no word of the person who asks for it now.
    const expiry = known.byPerson ? {} : { expiresAt: null };
    return { record: await confirmIoc(change, known.id, { ...expiry, ...fields }), isNew: false };
  }
  const batchId = await beginBatch(tx, organizationId);
  const made = { type, value, prefixBits, batchId, ...fields };
  const record = await iocs.create(change, made);
  await activateBatch(tx, organizationId, batchId);
  return { record, isNew: true };
}

/** Changes what a person says of an IOC: from then on no feed does. Throws NOT_FOUND. */
export function confirmIoc(change: Change, id: number, fields: UpdateIocBody): Promise<Ioc> {
  const confirmed = { ...fields, byPerson: true };
  return iocs.update(change, id, confirmed);
}

/** Throws NOT_FOUND. */
export async function removeIoc(change: Change, id: number): Promise<void> {
  await iocs.remove(change, id);
  await removeRecordEntity(change.tx, change.organizationId, "ioc", id);
}

/** Throws VALIDATION_FAILED at `/value`. */
export function indicatorOf(type: IndicatorType, text: string): IndicatorValue {
  const reading = readIndicator(type, text);
  if (reading.ok) return reading.indicator;
  throw validationFailed([{ path: "/value", code: "invalid_string", message: reading.message }]);
}
