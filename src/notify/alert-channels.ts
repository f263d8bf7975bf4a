import { isIP } from "node:net";
import { type Static, type TString, Type } from "typebox";
import type { SecretBox } from "../access/secret-box.ts";
import { ApiError } from "../errors.ts";
import { lateCheck } from "../late-check.ts";
import { type OutboundPolicy, plainHost } from "../outbound/outbound-policy.ts";

const Link = (what: string, example: string): TString =>
  Type.String({ format: "uri", maxLength: 2048, description: what, examples: [example] });
const Key = (what: string): TString =>
  Type.String({ minLength: 8, maxLength: 512, description: what, examples: ["R0utingKey42"] });
const Phone = (what: string): TString =>
  Type.String({ pattern: "^\\+[1-9][0-9]{6,14}$", description: what, examples: ["+491701234567"] });

/** Whom alerts reach, as bodies name it; a kind of record takes those of them that it has. */
export const ALERT_CHANNELS = {
  alertEmail: Type.String({ format: "email", maxLength: 255, examples: ["ops@example.com"] }),
  alertWebhookUrl: Link("Takes signed webhooks.", "https://hooks.example.com/obs"),
  alertChatAUrl: Link("An incoming webhook of Slack or what speaks like it.", "https://chat.example.com/a"),
  alertChatBUrl: Link("An incoming webhook of Discord or what speaks like it.", "https://chat.example.com/b"),
  alertChatCUrl: Link(
    "An incoming webhook of Microsoft Teams or what speaks like it.",
    "https://chat.example.com/c",
  ),
  alertChatDBotToken: Type.String({
    maxLength: 128,
    description: "Of a bot of Telegram or what speaks like it; of use with `alertChatDChatId`.",
    examples: ["110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"],
  }),
  alertChatDChatId: Type.String({ maxLength: 64, examples: ["-1001234567890"] }),
  alertPagingARoutingKey: Key("Of PagerDuty's events."),
  alertPagingBApiKey: Key("Of Opsgenie's alerts."),
  alertSmsNumber: Phone("Takes text messages."),
  alertVoiceNumber: Phone("Is called."),
} as const;

type ChannelName = keyof typeof ALERT_CHANNELS;
/** All but the address of mail, which is no secret. */
type SealedName = Exclude<ChannelName, "alertEmail">;

/** What is kept of secret channels; null where one is not set. */
export type SealedChannels = Readonly<Record<SealedName, string | null>>;

/** Names of channels that are kept sealed, and whose values audit rows never show. */
export const SEALED_CHANNELS: readonly SealedName[] = [
  "alertWebhookUrl",
  "alertChatAUrl",
  "alertChatBUrl",
  "alertChatCUrl",
  "alertChatDBotToken",
  "alertChatDChatId",
  "alertPagingARoutingKey",
  "alertPagingBApiKey",
  "alertSmsNumber",
  "alertVoiceNumber",
];

/** What records show in place of their secret channels. */
export const ALERT_CHANNEL_FLAGS = {
  hasAlertWebhook: Type.Boolean(),
  hasAlertChatA: Type.Boolean(),
  hasAlertChatB: Type.Boolean(),
  hasAlertChatC: Type.Boolean(),
  hasAlertChatD: Type.Boolean({ description: "Both the token of the bot and the chat are set." }),
  hasAlertPagingA: Type.Boolean(),
  hasAlertPagingB: Type.Boolean(),
  hasAlertSms: Type.Boolean(),
  hasAlertVoice: Type.Boolean(),
} as const;

const Flags = Type.Object(ALERT_CHANNEL_FLAGS);
type Flags = Static<typeof Flags>;

/** What is sealed: the channels that are set. */
const sealedText = lateCheck(
  Type.Object(Object.fromEntries(SEALED_CHANNELS.map((name) => [name, Type.Optional(Type.String())]))),
);

/** The secret channels of a record, each null that is not among its fields. */
export function sealedChannelsOf(
  fields: Readonly<Partial<Record<SealedName, string | null>>>,
): SealedChannels {
  return {
    alertWebhookUrl: fields.alertWebhookUrl ?? null,
    alertChatAUrl: fields.alertChatAUrl ?? null,
    alertChatBUrl: fields.alertChatBUrl ?? null,
    alertChatCUrl: fields.alertChatCUrl ?? null,
    alertChatDBotToken: fields.alertChatDBotToken ?? null,
    alertChatDChatId: fields.alertChatDChatId ?? null,
    alertPagingARoutingKey: fields.alertPagingARoutingKey ?? null,
    alertPagingBApiKey: fields.alertPagingBApiKey ?? null,
    alertSmsNumber: fields.alertSmsNumber ?? null,
    alertVoiceNumber: fields.alertVoiceNumber ?? null,
  };
}

/**
 * Encrypts the channels of a record of `table` as one text, null where none is set; `names` are those that are, for lists
 * that open nothing.
 */
export function sealAlertChannels(
  box: SecretBox,
  table: string,
  channels: SealedChannels,
): { readonly sealed: Buffer | null; readonly names: SealedName[] } {
  const names = SEALED_CHANNELS.filter((name) => channels[name] !== null);
  if (names.length === 0) return { sealed: null, names };
  const text = JSON.stringify(Object.fromEntries(names.map((name) => [name, channels[name]])));
  return { sealed: box.seal(text, purposeOf(table)), names };
}

/** Reads what `sealAlertChannels` made. Throws an Error for what was not sealed for this table with this key. */
export function openAlertChannels(box: SecretBox, table: string, sealed: Uint8Array | null): SealedChannels {
  if (sealed === null) return sealedChannelsOf({});
  const channels: unknown = JSON.parse(box.open(sealed, purposeOf(table)));
  if (!sealedText.Check(channels)) throw new Error("sealed channels have an unknown form");
  return sealedChannelsOf(channels);
}

/** What a record shows, from the names of the channels that are set. */
export function alertChannelFlags(names: readonly string[]): Flags {
  const has = (...needed: readonly SealedName[]): boolean => needed.every((name) => names.includes(name));
  return {
    hasAlertWebhook: has("alertWebhookUrl"),
    hasAlertChatA: has("alertChatAUrl"),
    hasAlertChatB: has("alertChatBUrl"),
    hasAlertChatC: has("alertChatCUrl"),
    hasAlertChatD: has("alertChatDBotToken", "alertChatDChatId"),
    hasAlertPagingA: has("alertPagingARoutingKey"),
    hasAlertPagingB: has("alertPagingBApiKey"),
    hasAlertSms: has("alertSmsNumber"),
    hasAlertVoice: has("alertVoiceNumber"),
  };
}

/** Those that are URLs that the server calls. */
const LINKS = ["alertWebhookUrl", "alertChatAUrl", "alertChatBUrl", "alertChatCUrl"] as const;

/**
 * Refuses URLs whose written host nobody may have alerts sent to, with ALERT_URL_BLOCKED. A name is not resolved: it is
 * judged by the address that is connected to, each time. `at` is the JSON pointer of the record.
 */
export function requireAlertUrls(
  policy: OutboundPolicy,
  fields: Readonly<Partial<Record<ChannelName, string | null>>>,
  at = "",
): void {
  for (const name of LINKS) {
    const url = fields[name];
    if (typeof url === "string") requireAlertUrl(policy, url, `${at}/${name}`);
  }
}

/** The same of one URL, whose JSON pointer is `path`. */
export function requireAlertUrl(policy: OutboundPolicy, url: string, path: string): void {
  if (isAllowed(url, policy)) return;
  throw new ApiError(
    "ALERT_URL_BLOCKED",
    `${path} leads to this machine or its network; OUTBOUND_ALLOW names what may be reached all the same.`,
  );
}

function isAllowed(text: string, policy: OutboundPolicy): boolean {
  const url = URL.parse(text);
  // The format of the field has let nothing through that is no http or https address, or holds credentials.
  if (url === null) return false;
  // Decimal, octal and shortened forms of an address have become the usual one by now.
  const host = plainHost(url.hostname);
  if (isIP(host) !== 0) return policy.admits(host, host);
  return isThisMachine(host) ? policy.admits(host, "127.0.0.1") : true;
}

/** The names that always mean loopback (RFC 6761). */
function isThisMachine(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost");
}

function purposeOf(table: string): string {
  return `alert-channels:${table}`;
}
