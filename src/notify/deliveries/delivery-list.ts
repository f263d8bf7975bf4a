import type { TransactionSql } from "postgres";
import type { ChannelName } from "../channels/target.ts";
import type { DeliveryState } from "./delivery-store.ts";

/** A delivery as it is shown: nothing of the receiver or of what was told. */
export interface ShownDelivery {
  readonly id: number;
  readonly channel: ChannelName;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** Of the last answer. */
  readonly lastCode: number | null;
  readonly lastError: string | null;
}

/** Deliveries of one incident that are listed. */
const LISTED_MAX = 1000;

interface ShownRow {
  id: string;
  channel: ChannelName;
  state: DeliveryState;
  attempts: number;
  last_code: number | null;
  last_error: string | null;
}

/** Whom an incident was told to, oldest first. */
export async function deliveriesOfIncident(
  tx: TransactionSql,
  organizationId: number,
  incidentId: number,
): Promise<ShownDelivery[]> {
  const rows = await tx<ShownRow[]>`
    SELECT id, channel, state, attempts, last_code, last_error FROM deliveries
    WHERE organization_id = ${organizationId} AND incident_id = ${incidentId} ORDER BY id LIMIT ${LISTED_MAX}`;
  return rows.map(shownOf);
}

/** Deliveries by their ids, oldest first. */
export async function deliveriesById(
  tx: TransactionSql,
  organizationId: number,
  ids: readonly number[],
): Promise<ShownDelivery[]> {
  const rows = await tx<ShownRow[]>`
    SELECT id, channel, state, attempts, last_code, last_error FROM deliveries
    WHERE organization_id = ${organizationId} AND id = ANY(${[...ids]}::bigint[]) ORDER BY id`;
  return rows.map(shownOf);
}

function shownOf(row: ShownRow): ShownDelivery {
  const { channel, state, attempts } = row;
  return {
    id: Number(row.id),
    ...{ channel, state, attempts },
    lastCode: row.last_code,
    lastError: row.last_error,
  };
}
