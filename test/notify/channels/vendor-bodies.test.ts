import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { type HttpTarget, requestFor } from "../../../src/notify/channels/channels.ts";
import type { Notification } from "../../../src/notify/channels/notification.ts";
import {
  DiscordMessage,
  OpsgenieAction,
  OpsgenieAlert,
  PAGERDUTY_MAX_BYTES,
  PagerDutyEvent,
  SlackMessage,
  TEAMS_MAX_BYTES,
  TeamsMessage,
  TelegramMessage,
} from "./vendor-bodies.ts";

/** Longer than whatever a receiver takes. */
const LONG = 60_000;
/** Texts that are long, or in which every unit grows when it is escaped, or that a cut could tear apart. */
const TEXTS = [
  "Checkout is down",
  "x".repeat(LONG),
  "𝕦".repeat(LONG),
  `a${"𝕦".repeat(LONG)}`,
  "界".repeat(LONG),
  "\u0001".repeat(LONG),
  `"\\`.repeat(LONG / 2),
  "&<>".repeat(LONG / 3),
  "*_~`|>#[](<@-".repeat(5_000),
  "<!channel> @everyone <@U012> [x](javascript:1) &amp; </script>",
  "x\ud800y\udc00",
  "line\nline\r\n\tline",
];
const SEVERITIES = ["low", "medium", "high", "critical"] as const;
const TONES = ["problem", "answered", "recovery", "note"] as const;
const LINK = "https://obs.example/incidents/12";
const ACKNOWLEDGE = `https://obs.example/acknowledge/${"t".repeat(200)}`;

const hostile = fc.oneof(fc.constantFrom(...TEXTS), fc.string({ unit: "binary", maxLength: 400 }));
/** A title is never empty, nor blank; anything else may be. */
const notification: fc.Arbitrary<Notification> = fc.record({
  type: fc.constantFrom("incident.opened", "incident.resolved", "incident.updated", "test"),
  tone: fc.constantFrom(...TONES),
  at: fc.constant("2026-03-01T12:00:00.000Z"),
  severity: fc.constantFrom(...SEVERITIES),
  title: hostile.map((text) => (text.trim() === "" ? "Checkout" : text)),
  lines: fc.array(fc.oneof(hostile, fc.constantFrom("", " ")), { maxLength: 3 }),
  incidentId: fc.option(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), { nil: null }),
  incident: fc.constant(null),
  // As long as the API takes it.
  monitor: fc.option(
    fc.record({ id: fc.integer({ min: 1 }), name: fc.constantFrom("Shop", "界".repeat(255)) }),
    {
      nil: null,
    },
  ),
  link: fc.constantFrom(null, LINK),
  acknowledgeLink: fc.constantFrom(null, ACKNOWLEDGE),
});

const ENDPOINTS = {
  chatD: "https://chat-d.example",
  pagingA: "https://paging-a.example",
  pagingB: "https://paging-b.example",
  sms: null,
  voice: null,
};

/** What is wrong with the body that a receiver is sent, and its size. */
function sent(target: HttpTarget, told: Notification, schema: TSchema) {
  const context = { id: "msg_9", thread: null, nowMs: 0, endpoints: ENDPOINTS, secrets: [] };
  const { body } = requestFor(target, told, context);
  const wrong = Compile(schema)
    .Errors(JSON.parse(body))
    .map(({ instancePath, message }) => `${instancePath}: ${message}`);
  return { wrong, bytes: Buffer.byteLength(body) };
}

/** Tells a receiver everything there is to tell in every severity and tone, and whatever else comes up. */
function holds(
  target: HttpTarget,
  schemaOf: (told: Notification) => TSchema,
  maxBytes = Number.POSITIVE_INFINITY,
): void {
  const check = (told: Notification): void => {
    const { wrong, bytes } = sent(target, told, schemaOf(told));
    expect(wrong).toEqual([]);
    expect(bytes).toBeLessThanOrEqual(maxBytes);
  };
  for (const severity of SEVERITIES)
    for (const tone of TONES)
      for (const title of TEXTS)
        check({
          ...{ type: "incident.opened", tone, severity, title, lines: [title, title] },
          ...{ at: "2026-03-01T12:00:00.000Z", incidentId: 12, incident: null },
          ...{ monitor: { id: 1, name: "界".repeat(255) }, link: LINK, acknowledgeLink: ACKNOWLEDGE },
        });
  fc.assert(fc.property(notification, check));
}

describe("whatever is told is a body that is valid", () => {
  test("for incoming webhooks of Slack", () => {
    holds({ channel: "chatA", url: "https://hooks.example/services/T0/B0/x" }, () => SlackMessage);
  });

  test("for webhooks of Discord", () => {
    holds({ channel: "chatB", url: "https://hooks.example/api/webhooks/1/x" }, () => DiscordMessage);
  });

  test("for Microsoft Teams, as an adaptive card, in bytes too", () => {
    holds(
      { channel: "chatC", url: "https://hooks.example/workflows/1" },
      () => TeamsMessage,
      TEAMS_MAX_BYTES,
    );
  });

  test("for the bot API of Telegram", () => {
    holds(
      { channel: "chatD", botToken: "110201543:AAHdqTcvCH1v", chatId: "-1001234" },
      () => TelegramMessage,
    );
  });

  test("for PagerDuty's Events API v2, in bytes too", () => {
    const routingKey = "0123456789abcdef0123456789abcdef";
    holds({ channel: "pagingA", routingKey }, () => PagerDutyEvent, PAGERDUTY_MAX_BYTES);
  });

  test("for Opsgenie's Alert API v2, whether it creates, acknowledges or closes", () => {
    holds({ channel: "pagingB", apiKey: "eb243592-faa2-4ba2" }, ({ tone }) =>
      tone === "recovery" || tone === "answered" ? OpsgenieAction : OpsgenieAlert,
    );
  });
});
