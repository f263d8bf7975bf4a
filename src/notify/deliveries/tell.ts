import { createHmac } from "node:crypto";
import type { TransactionSql } from "postgres";
import { type Static, Type } from "typebox";
import type { SecretBox } from "../../access/secret-box.ts";
import { lateCheck } from "../../late-check.ts";
import type { ChannelEndpoints } from "../channels/channel.ts";
import { isTold, laneOf } from "../channels/channels.ts";
import { Notification } from "../channels/notification.ts";
import { Target } from "../channels/target.ts";
import { insertDelivery } from "./delivery-store.ts";

const Message = Type.Object({ target: Target, notification: Notification });
/** What a delivery says, and to whom. */
export type Message = Static<typeof Message>;
const isMessage = lateCheck(Message);

/** What is told, to whom, and why. */
export interface Telling {
  readonly incidentId: number | null;
  /** What it tells of, as `event:812`: the same receiver is told of it once. */
  readonly eventId: string;
  readonly notification: Notification;
  readonly targets: readonly Target[];
  /** Somebody is being woken: it goes before everything else, and is never one of several in a message. */
  readonly isPage: boolean;
}

interface TellerOptions {
  readonly box: SecretBox;
  readonly endpoints: ChannelEndpoints;
  /** Makes receivers tellable apart in the database without saying who they are. */
  readonly targetKey: Uint8Array;
}

/** The writing end of the outbox of notifications: what is told is written in the transaction of what it tells. */
export class Teller {
  readonly #options: TellerOptions;

  constructor(options: TellerOptions) {
    this.#options = options;
  }

  /** Answers the ids of deliveries that were not written before. */
  async tell(
    tx: TransactionSql,
    organizationId: number,
    { incidentId, eventId, notification, targets, isPage }: Telling,
    nowMs: number,
  ): Promise<number[]> {
    const { box, endpoints } = this.#options;
    const ids: number[] = [];
    for (const target of targets) {
      const id = await insertDelivery(
        tx,
        organizationId,
        {
          incidentId,
          eventId,
          channel: target.channel,
          targetHash: this.hashOf(organizationId, target),
          lane: laneOf(target, endpoints),
          priority: isPage ? 0 : 1,
          sealed: box.seal(JSON.stringify({ target, notification }), purposeOf(organizationId)),
          state: isTold(target, notification) ? "pending" : "suppressed",
        },
        nowMs,
      );
      if (id !== null) ids.push(id);
    }
    return ids;
  }

  /** The same for the same receiver of the same organisation, and no other's. */
  hashOf(organizationId: number, target: Target): Buffer {
    const parts = Object.entries(target).toSorted(([left], [right]) => (left < right ? -1 : 1));
    return createHmac("sha256", this.#options.targetKey)
      .update(JSON.stringify([organizationId, ...parts]))
      .digest();
  }
}

/** Reads what `Teller` sealed. Throws an Error for what this server's key did not seal. */
export function openMessage(box: SecretBox, organizationId: number, sealed: Uint8Array): Message {
  const message: unknown = JSON.parse(box.open(sealed, purposeOf(organizationId)));
  if (!isMessage.Check(message)) throw new Error("a sealed notification has an unknown form");
  return message;
}

function purposeOf(organizationId: number): string {
  return `delivery:${organizationId}`;
}
