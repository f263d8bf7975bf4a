import type { Sql } from "postgres";
import { hashToken, mintLinkToken } from "../../access/secret-token.ts";
import type { Change } from "../../changes/change.ts";
import { Records } from "../../changes/records.ts";
import { problemCleared, problemSubject } from "../../problems/events.ts";
import { type KnowsPolicy, requirePolicy } from "../../problems/known-policy.ts";
import { OPEN_MAX, RECEIVERS_MAX } from "./limits.ts";
import { openKeys, replaceToken } from "./store.ts";
import {
  AlertReceiver,
  type CreateAlertReceiverBody,
  type MintedAlertReceiver,
  type UpdateAlertReceiverBody,
} from "./types.ts";

export interface ReceiverDependencies {
  /** Under which address senders reach the server. */
  readonly publicUrl: string;
  readonly knowsPolicy: KnowsPolicy;
}

type NewReceiver = CreateAlertReceiverBody & { readonly tokenHash: Buffer };

/** Where alerts of other systems come in, and who may send them: whoever has the token. */
export class AlertReceivers {
  readonly #deps: ReceiverDependencies;
  readonly #records: Records<typeof AlertReceiver, NewReceiver, UpdateAlertReceiverBody>;

  constructor(deps: ReceiverDependencies) {
    this.#deps = deps;
    this.#records = new Records({
      noun: "alert receiver",
      table: "alert_receivers",
      schema: AlertReceiver,
      maxPerOrganization: RECEIVERS_MAX,
      check: ({ escalationPolicyId }, _before, change) =>
        requirePolicy(deps.knowsPolicy, change, escalationPolicyId),
    });
  }

  list(sql: Sql, organizationId: number): Promise<AlertReceiver[]> {
    return this.#records.list(sql, organizationId);
  }

  read(sql: Sql, organizationId: number, id: number): Promise<AlertReceiver> {
    return this.#records.read(sql, organizationId, id);
  }

  async create(change: Change, body: CreateAlertReceiverBody): Promise<MintedAlertReceiver> {
    const token = mintLinkToken();
    return this.#shown(await this.#records.create(change, { ...body, tokenHash: hashToken(token) }), token);
  }

  update(change: Change, id: number, body: UpdateAlertReceiverBody): Promise<AlertReceiver> {
    return this.#records.update(change, id, body);
  }

  /** A new token; the old one is good for nothing any more. Throws NOT_FOUND. */
  async rotate(change: Change, id: number): Promise<MintedAlertReceiver> {
    const token = mintLinkToken();
    const receiver = await this.#records.update(change, id, {});
    await replaceToken(change.tx, change.organizationId, id, hashToken(token));
    return this.#shown(receiver, token);
  }

  /** With it end its incidents, for nobody else will say when they are over. Throws NOT_FOUND. */
  async remove(change: Change, id: number): Promise<void> {
    await this.#records.remove(change, id);
    const at = new Date(change.nowMs).toISOString();
    for (const key of await openKeys(change.tx, change.organizationId, id, OPEN_MAX))
      change.emit(problemCleared, problemSubject(key), {
        key,
        at,
        cause: "deleted",
        summary: "The receiver of its alerts was deleted.",
      });
  }

  #shown(receiver: AlertReceiver, token: string): MintedAlertReceiver {
    return { ...receiver, token, url: `${this.#deps.publicUrl}/api/v1/alerts/${token}` };
  }
}
