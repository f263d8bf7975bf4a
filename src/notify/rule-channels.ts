import type { TransactionSql } from "postgres";
import type { SecretBox } from "../access/secret-box.ts";
import type { OutboundPolicy } from "../outbound/outbound-policy.ts";
import {
  openAlertChannels,
  requireAlertUrls,
  type SealedChannels,
  sealAlertChannels,
  sealedChannelsOf,
} from "./alert-channels.ts";
import { RULE_SECRETS } from "./stored-channels.ts";

/** Channels that are given: null takes one away, and undefined leaves it as it is. */
type GivenChannels = { readonly [Name in (typeof RULE_SECRETS)[number]]?: string | null | undefined };

export interface RuleChannelsOptions {
  readonly box: SecretBox;
  /** To which URLs alerts may be sent. */
  readonly alertPolicy: OutboundPolicy;
}

/** The channels that rules of a table have of their own, sealed. */
export class RuleChannels {
  readonly #options: RuleChannelsOptions;
  readonly #table: "log_alerts" | "correlation_rules";

  constructor(options: RuleChannelsOptions, table: "log_alerts" | "correlation_rules") {
    this.#options = options;
    this.#table = table;
  }

  /** Throws ALERT_URL_BLOCKED. */
  requireUrls(body: GivenChannels): void {
    requireAlertUrls(this.#options.alertPolicy, definedOf(body));
  }

  /** The channels of a rule, which nobody else changes until the change ends; null for none of that id. */
  async lock(tx: TransactionSql, organizationId: number, id: number): Promise<SealedChannels | null> {
    const [row] = await tx<{ sealed_channels: Uint8Array | null }[]>`
      SELECT sealed_channels FROM ${tx(this.#table)}
      WHERE organization_id = ${organizationId} AND id = ${id} FOR UPDATE`;
    return row === undefined ? null : openAlertChannels(this.#options.box, this.#table, row.sealed_channels);
  }

  /** What is written of the channels in a body, over those that the rule had. */
  columnsOf(body: GivenChannels, before: SealedChannels | null = null) {
    const { sealed, names } = sealAlertChannels(
      this.#options.box,
      this.#table,
      sealedChannelsOf({ ...before, ...definedOf(body) }),
    );
    return { channels: [...names], sealedChannels: sealed };
  }
}

/** A body without the channels that are sealed. */
export function withoutChannels<Body extends GivenChannels>(body: Body) {
  const {
    alertWebhookUrl: _webhook,
    alertChatAUrl: _a,
    alertChatBUrl: _b,
    alertChatCUrl: _c,
    alertChatDBotToken: _token,
    alertChatDChatId: _chat,
    ...rest
  } = body;
  return rest;
}

function definedOf(body: GivenChannels): Partial<SealedChannels> {
  return Object.fromEntries(
    RULE_SECRETS.flatMap((name) => {
      const given = body[name];
      return given === undefined ? [] : [[name, given]];
    }),
  );
}
