import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import type { ChannelEndpoints } from "../../../src/notify/channels/channel.ts";
import { type HttpTarget, isTold, laneOf, requestFor } from "../../../src/notify/channels/channels.ts";
import type { Notification } from "../../../src/notify/channels/notification.ts";
import { unknownPlaceholders } from "../../../src/notify/channels/template.ts";
import { mintWebhookSecret } from "../../../src/notify/webhook-signature.ts";

const ENDPOINTS: ChannelEndpoints = {
  chatD: "https://chat-d.example",
  pagingA: "https://paging-a.example",
  pagingB: "https://paging-b.example",
  sms: "https://sms.example/send",
  voice: "https://voice.example/call",
};
const SECRET = mintWebhookSecret();
const NOW_MS = Date.now();

const TARGETS: readonly HttpTarget[] = [
  { channel: "webhook", url: "https://hooks.example/obs" },
  { channel: "chatA", url: "https://hooks.example/services/T0/B0/x" },
  { channel: "chatB", url: "https://hooks.example/api/webhooks/1/x" },
  { channel: "chatC", url: "https://hooks.example/workflows/1" },
  { channel: "chatD", botToken: "110201543:AAHdqTcvCH1v", chatId: "-1001234" },
  { channel: "pagingA", routingKey: "R0utingKey0123456789" },
  { channel: "pagingB", apiKey: "eb243592-faa2-4ba2" },
  { channel: "sms", number: "+491701234567" },
  { channel: "voice", number: "+491701234567" },
  {
    channel: "template",
    url: "https://ntfy.example/alerts?title={{title}}",
    method: "POST",
    headers: { title: "{{title}}" },
    body: '{"text": "{{text}}", "link": "{{link}}"}',
  },
];

const text = fc.string({ unit: "binary", maxLength: 300 });
const notification = fc.record({
  type: fc.constantFrom("incident.opened", "incident.resolved", "incident.acknowledged", "test"),
  tone: fc.constantFrom("problem" as const, "answered" as const, "recovery" as const, "note" as const),
  at: fc.constant("2026-03-01T12:00:00.000Z"),
  severity: fc.constantFrom("low" as const, "medium" as const, "high" as const, "critical" as const),
  title: text,
  lines: fc.array(text, { maxLength: 5 }),
  incidentId: fc.option(fc.integer({ min: 1 }), { nil: null }),
  incident: fc.constant(null),
  monitor: fc.option(fc.record({ id: fc.integer({ min: 1 }), name: text }), { nil: null }),
  link: fc.constantFrom(null, "https://obs.example/incidents/12"),
  acknowledgeLink: fc.constantFrom(null, "https://obs.example/acknowledge/t0ken"),
});

const OPENED: Notification = {
  type: "incident.opened",
  tone: "problem",
  at: "2026-03-01T12:00:00.000Z",
  severity: "high",
  title: "Checkout <is> down",
  lines: ["since 12:00 & counting", "*timeout*"],
  incidentId: 12,
  incident: { id: 12, title: "Checkout <is> down" },
  monitor: { id: 17, name: "Checkout" },
  link: "https://obs.example/incidents/12",
  acknowledgeLink: null,
};
const RESOLVED: Notification = {
  ...OPENED,
  type: "incident.resolved",
  tone: "recovery",
  title: "Checkout is up",
};
const ANSWERED: Notification = { ...OPENED, type: "incident.acknowledged", tone: "answered" };
const SAID: Notification = { ...OPENED, type: "incident.updated", tone: "note" };

function requestTo(channel: HttpTarget["channel"], told: Notification) {
  const target = TARGETS.find((each) => each.channel === channel);
  if (target === undefined) throw new Error(`no target of ${channel}`);
  const context = { id: "msg_9", thread: null, nowMs: NOW_MS, endpoints: ENDPOINTS, secrets: [SECRET] };
  const request = requestFor(target, told, context);
  return { ...request, json: JSON.parse(request.body) };
}

describe("every channel", () => {
  test.each(TARGETS.map((target) => [target.channel, target] as const))(
    "%s makes a request that can be sent, whatever it has to say",
    (_name, target) => {
      fc.assert(
        fc.property(notification, (told) => {
          const context = {
            id: "msg_9",
            thread: null,
            nowMs: NOW_MS,
            endpoints: ENDPOINTS,
            secrets: [SECRET],
          };
          const request = requestFor(target, told, context);
          const url = new URL(request.url);
          expect(url.protocol).toBe("https:");
          // Nothing of what is told changes where it goes.
          expect(url.host).toBe(laneOf(target, ENDPOINTS));
          expect(() => new Headers(request.headers)).not.toThrow();
          expect(() => JSON.parse(request.body)).not.toThrow();
          expect(request.body.isWellFormed()).toBe(true);
        }),
      );
    },
  );

  test("stays within what its receivers take", () => {
    const long = { ...OPENED, title: "t".repeat(5000), lines: ["l".repeat(50_000), "𝕦".repeat(50_000)] };
    expect(requestTo("chatA", long).json.attachments[0].blocks[0].text.text.length).toBeLessThanOrEqual(150);
    expect(requestTo("chatA", long).json.attachments[0].blocks[1].text.text.length).toBeLessThanOrEqual(3001);
    expect([...requestTo("chatB", long).json.embeds[0].title].length).toBeLessThanOrEqual(256);
    expect([...requestTo("chatB", long).json.embeds[0].description].length).toBeLessThanOrEqual(4096);
    expect(requestTo("chatC", long).body.length).toBeLessThan(28_000);
    expect([...requestTo("chatD", long).json.text].length).toBeLessThanOrEqual(4096);
    expect(requestTo("pagingA", long).json.payload.summary.length).toBeLessThanOrEqual(1024);
    expect(requestTo("pagingB", long).json.message.length).toBeLessThanOrEqual(130);
    expect(requestTo("sms", long).json.text.length).toBeLessThanOrEqual(300);
  });
});

describe("a webhook", () => {
  test("is accepted by the verifier of Standard Webhooks, with the present secret and with the one it replaced", () => {
    const replaced = mintWebhookSecret();
    const [target] = TARGETS;
    if (target === undefined) throw new Error("no target");
    const context = {
      id: "msg_9",
      thread: null,
      nowMs: NOW_MS,
      endpoints: ENDPOINTS,
      secrets: [SECRET, replaced],
    };
    const { headers, body } = requestFor(target, OPENED, context);
    for (const secret of [SECRET, replaced])
      expect(new Webhook(secret).verify(body, { ...headers })).toMatchObject({
        type: "incident.opened",
        timestamp: OPENED.at,
        data: { incidentId: 12, incident: { id: 12 }, monitor: { id: 17, name: "Checkout" } },
      });
    expect(() => new Webhook(mintWebhookSecret()).verify(body, { ...headers })).toThrow();
    expect(headers["webhook-id"]).toBe("msg_9");
  });
});

describe("chats", () => {
  test("A gets blocks whose control characters are escaped", () => {
    const { json } = requestTo("chatA", OPENED);
    expect(json.text).toBe("Checkout &lt;is&gt; down");
    expect(json.attachments[0].blocks.map(({ type }: { type: string }) => type)).toEqual([
      "header",
      "section",
      "actions",
    ]);
  });

  test("B mentions nobody and formats nothing that was told", () => {
    const { json } = requestTo("chatB", { ...OPENED, lines: ["@everyone <@1> **x** [a](https://b)"] });
    expect(json.allowed_mentions).toEqual({ parse: [] });
    expect(json.embeds[0].description).toBe(
      "\\@everyone \\<\\@1> \\*\\*x\\*\\* \\[a\\]\\(https://b\\)".replace("1>", "1\\>"),
    );
  });

  test("C gets an adaptive card in a message", () => {
    const { json } = requestTo("chatC", { ...OPENED, acknowledgeLink: "https://obs.example/a" });
    expect(json).toMatchObject({
      type: "message",
      attachments: [
        { contentType: "application/vnd.microsoft.card.adaptive", content: { type: "AdaptiveCard" } },
      ],
    });
    expect(json.attachments[0].content.actions.map(({ title }: { title: string }) => title)).toEqual([
      "Open",
      "Acknowledge",
    ]);
  });

  test("D gets a message of the bot, its token in the path as the service wants it", () => {
    const { url, json } = requestTo("chatD", OPENED);
    expect(url).toBe("https://chat-d.example/bot110201543:AAHdqTcvCH1v/sendMessage");
    expect(json).toMatchObject({ chat_id: "-1001234", text: expect.stringContaining("Checkout <is> down") });
  });
});

describe("paging services", () => {
  test("A is told to trigger, acknowledge and resolve one alert under one key", () => {
    const keys = [OPENED, ANSWERED, RESOLVED].map((told) => requestTo("pagingA", told).json);
    expect(keys.map(({ event_action }) => event_action)).toEqual(["trigger", "acknowledge", "resolve"]);
    expect(keys.map(({ dedup_key }) => dedup_key)).toEqual(["obs-12", "obs-12", "obs-12"]);
    expect(keys[0]).toMatchObject({
      routing_key: "R0utingKey0123456789",
      payload: { severity: "error", source: "Checkout", timestamp: OPENED.at },
    });
  });

  test("B has one alias created, acknowledged and closed", () => {
    expect([OPENED, ANSWERED, RESOLVED].map((told) => requestTo("pagingB", told).url)).toEqual([
      "https://paging-b.example/v2/alerts",
      "https://paging-b.example/v2/alerts/obs-12/acknowledge?identifierType=alias",
      "https://paging-b.example/v2/alerts/obs-12/close?identifierType=alias",
    ]);
    expect(requestTo("pagingB", OPENED).json).toMatchObject({ alias: "obs-12", priority: "P2" });
    expect(requestTo("pagingB", OPENED).headers).toMatchObject({
      authorization: "GenieKey eb243592-faa2-4ba2",
    });
  });

  test("are not told what people say, and everybody else is", () => {
    const told = TARGETS.filter((target) => isTold(target, SAID)).map(({ channel }) => channel);
    expect(told).toEqual(TARGETS.map(({ channel }) => channel).filter((name) => !name.startsWith("paging")));
    expect(TARGETS.every((target) => isTold(target, { ...SAID, type: "test" }))).toBe(true);
  });
});

describe("a template", () => {
  test("is filled as each place needs it", () => {
    const told = { ...OPENED, title: 'a "b" ünï \n c', lines: ['say "x"', "y"] };
    const { url, headers, json } = requestTo("template", told);
    expect(new URL(url).searchParams.get("title")).toBe(told.title);
    expect(headers.title).toBe('a "b" ünï c');
    expect(json).toEqual({ text: 'say "x"\ny', link: OPENED.link });
  });

  test("names what means nothing, so that it is refused when it is saved", () => {
    expect(unknownPlaceholders("{{title}} {{ text }} {{titel}} {{x}} {y}")).toEqual(["titel", "x"]);
  });

  test("of another type than JSON is filled with the texts as they are", () => {
    const target: HttpTarget = {
      channel: "template",
      url: "https://ntfy.example/alerts",
      method: "PUT",
      headers: { "Content-Type": "text/plain" },
      body: "{{title}}",
    };
    const context = { id: "msg_9", thread: null, nowMs: NOW_MS, endpoints: ENDPOINTS, secrets: [] };
    expect(requestFor(target, { ...OPENED, title: 'a "b"' }, context)).toMatchObject({
      method: "PUT",
      body: 'a "b"',
      headers: { "Content-Type": "text/plain" },
    });
  });

  test("whose body is a form is filled with components of it, so that a title adds no fields", () => {
    const target: HttpTarget = {
      channel: "template",
      url: "https://push.example/messages",
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: "priority=0&message={{title}}",
    };
    const context = { id: "msg_9", thread: null, nowMs: NOW_MS, endpoints: ENDPOINTS, secrets: [] };
    const { body } = requestFor(target, { ...OPENED, title: "a&priority=2 +b" }, context);
    expect([...new URLSearchParams(body)]).toEqual([
      ["priority", "0"],
      ["message", "a&priority=2 +b"],
    ]);
  });
});
