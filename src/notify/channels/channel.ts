import type { Notification } from "./notification.ts";

/** Where the services are that an operator may have elsewhere; null where there is none. */
export interface ChannelEndpoints {
  /** Origins, to which the services' own paths are appended. */
  readonly chatD: string;
  readonly pagingA: string;
  readonly pagingB: string;
  /** Whole addresses of the operator's gateways. */
  readonly sms: string | null;
  readonly voice: string | null;
}

/** What a channel knows besides the receiver and what is told. */
export interface DeliveryContext {
  /** The same at every attempt, so that receivers can tell a repetition. */
  readonly id: string;
  /** The same for everything that its receiver is told of one incident; null where it is about none. */
  readonly thread: string | null;
  /** Of this attempt, in milliseconds since 1970. */
  readonly nowMs: number;
  readonly endpoints: ChannelEndpoints;
  /** What webhooks of the organisation are signed with, the present secret first. */
  readonly secrets: readonly string[];
}

/** One request that tells it. */
export interface ChannelRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The address is the operator's, who may have it wherever they like. */
  readonly isOperators: boolean;
}

/** A way to tell somebody over HTTP: one file each, and one conformance suite for all. */
export interface HttpChannel<Target> {
  /** Where it is sent, so that one place that hangs holds nothing else up. */
  readonly lane: (target: Target, endpoints: ChannelEndpoints) => string;
  /** Whether its receivers are told of such things at all; all of them when absent. */
  readonly tells?: (notification: Notification) => boolean;
  /** Throws an Error where the operator has no such service. */
  readonly request: (target: Target, notification: Notification, context: DeliveryContext) => ChannelRequest;
}

const JSON_HEADERS = { "content-type": "application/json" };

/** A POST of JSON. */
export function jsonPost(
  url: string,
  body: unknown,
  { headers = {}, isOperators = false }: { headers?: Record<string, string>; isOperators?: boolean } = {},
): ChannelRequest {
  return {
    url,
    method: "POST",
    headers: { ...JSON_HEADERS, ...headers },
    body: JSON.stringify(body),
    isOperators,
  };
}

export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}

/**
 * A text of at most so many UTF-16 units, the end cut where it is longer: whatever its receiver takes for a character, it
 * finds no more of them.
 */
export function atMost(text: string, maxUnits: number): string {
  const whole = text.toWellFormed();
  if (whole.length <= maxUnits) return whole;
  // The first half of a character of two units says nothing without the second.
  return `${whole.slice(0, maxUnits - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** A text that takes at most so many bytes in a body of JSON, the end cut where it takes more. */
export function atMostBytes(text: string, maxBytes: number): string {
  let kept = text.toWellFormed();
  for (;;) {
    const bytes = Buffer.byteLength(JSON.stringify(kept));
    if (bytes <= maxBytes) return kept;
    kept = atMost(kept, Math.floor((kept.length * maxBytes) / bytes));
  }
}

/** Whether something that was wrong is over. */
export function isOver({ tone }: Notification): boolean {
  return tone === "recovery";
}
