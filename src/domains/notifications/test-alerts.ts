import { setTimeout as pause } from "node:timers/promises";
import type { Sql } from "postgres";
import type { SealedChannels } from "../../notify/alert-channels.ts";
import { targetsOfChannels } from "../../notify/alert-targets.ts";
import { deliveriesById, type ShownDelivery } from "../../notify/deliveries/delivery-list.ts";
import type { Teller } from "../../notify/deliveries/tell.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";

/** How long the caller waits for the first attempts, and how often they are looked at. */
const WAIT_MS = 10_000;
const LOOK_EVERY_MS = 50;

interface TestAlertDependencies {
  readonly sql: Sql;
  readonly teller: Teller;
  readonly publicUrl: string;
  readonly onTold: () => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Whom a sample is sent to. */
interface Sample {
  readonly organizationId: number;
  readonly monitor: { readonly id: number; readonly name: string };
  readonly alertEmail: string | null;
  readonly channels: SealedChannels;
}

/** Tells every channel that is set, and answers what became of the first attempts, or of those that came in time. */
export async function sendTestAlert(deps: TestAlertDependencies, sample: Sample): Promise<ShownDelivery[]> {
  const { sql, teller, publicUrl, onTold, now } = deps;
  const { organizationId, monitor, alertEmail, channels } = sample;
  const notification = {
    type: "test",
    tone: "note" as const,
    at: new Date(now()).toISOString(),
    severity: "low" as const,
    title: `Test: alerts of ${monitor.name} arrive here`,
    lines: ["Nothing is wrong; somebody asked for this."],
    incidentId: null,
    incident: null,
    monitor,
    link: `${publicUrl}/monitors/${monitor.id}`,
    acknowledgeLink: null,
  };
  const ids = await askPostgres(() =>
    inOrganization(sql, organizationId, (tx) =>
      teller.tell(
        tx,
        organizationId,
        {
          incidentId: null,
          eventId: `test:${crypto.randomUUID()}`,
          notification,
          targets: targetsOfChannels(alertEmail, channels),
          isPage: false,
        },
        now(),
      ),
    ),
  );
  onTold();
  const look = (): Promise<ShownDelivery[]> =>
    askPostgres(() => inOrganization(sql, organizationId, (tx) => deliveriesById(tx, organizationId, ids)));
  let deliveries = await look();
  for (let waitedMs = 0; waitedMs < WAIT_MS && deliveries.some(isUntried); waitedMs += LOOK_EVERY_MS) {
    await pause(LOOK_EVERY_MS);
    deliveries = await look();
  }
  return deliveries;
}

/** Whether nothing has come of the first attempt yet. */
function isUntried({ state, lastCode, lastError }: ShownDelivery): boolean {
  return state === "pending" && lastCode === null && lastError === null;
}
