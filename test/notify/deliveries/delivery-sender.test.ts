import { describe, expect, test } from "bun:test";
import type { Target } from "../../../src/notify/channels/target.ts";
import { supersede, toldTargets } from "../../../src/notify/deliveries/delivery-store.ts";
import { IN_FLIGHT_PER_LANE_MAX, RATES } from "../../../src/notify/deliveries/limits.ts";
import { eventually } from "../../harness/eventually.ts";
import { openMailPeer } from "../mail/mail-peer.ts";
import { hook, notificationOf, Outbox, TELLER } from "./outbox-fixture.ts";

const outbox = new Outbox();

describe("a notification", () => {
  test("is told once, however often its event is told, and not at all when its transaction is not kept", async () => {
    const hears = outbox.receiver();
    const eventId = "event:812";
    expect(await outbox.tell("first", [hook(hears)], { eventId })).toHaveLength(1);
    expect(await outbox.tell("again", [hook(hears)], { eventId })).toEqual([]);
    const failed = outbox.sql.begin(async (tx) => {
      const telling = { incidentId: null, eventId: "event:813", notification: notificationOf("lost") };
      await TELLER.tell(
        tx,
        outbox.organizationId,
        { ...telling, targets: [hook(hears)], isPage: false },
        Date.now(),
      );
      throw new Error("not kept");
    });
    await expect(failed).rejects.toThrow("not kept");
    await outbox.instance().sendDue();
    expect(hears.titles).toEqual(["first"]);
    expect(await outbox.rows()).toMatchObject([{ state: "delivered", attempts: 1, last_code: 204 }]);
  });

  test("is tried again under the same id after 5xx and after silence, and delivered then", async () => {
    const hears = outbox.receiver((_received, nth) => new Response(null, { status: nth < 3 ? 500 : 200 }));
    await outbox.tell("x", [hook(hears)]);
    const { sendDue } = outbox.instance();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await sendDue();
      await outbox.passTime();
    }
    expect(hears.received).toHaveLength(3);
    expect(new Set(hears.received.map(({ headers }) => headers.get("webhook-id"))).size).toBe(1);
    expect(await outbox.rows()).toMatchObject([{ state: "delivered", attempts: 3 }]);
  });

  test.each([400, 404, 410, 301])("is given up at once when the receiver answers %d", async (status) => {
    const elsewhere = outbox.receiver();
    const hears = outbox.receiver(() => new Response(null, { status, headers: { location: elsewhere.url } }));
    await outbox.tell("x", [hook(hears)]);
    await outbox.instance().sendDue();
    expect(await outbox.rows()).toMatchObject([{ state: "failed", attempts: 1, last_code: status }]);
    expect(elsewhere.received).toEqual([]);
  });

  test.each([
    ["3600", 3600],
    ["86400", 43_200],
    ["-5", 5],
    ["soon", 5],
  ])("waits as long as Retry-After %s asks for, within bounds", async (retryAfter, seconds) => {
    const hears = outbox.receiver(
      () => new Response(null, { status: 429, headers: { "retry-after": retryAfter } }),
    );
    await outbox.tell("x", [hook(hears)]);
    await outbox.instance().sendDue();
    const [row] = await outbox.rows();
    expect(row).toMatchObject({ state: "pending", last_code: 429 });
    expect(row?.due_in_sec).toBeGreaterThan(seconds * 0.79 - 60);
    expect(row?.due_in_sec).toBeLessThan(seconds * 1.21 + 1);
  });

  test("is given up after the last pause", async () => {
    const hears = outbox.receiver(() => new Response(null, { status: 503 }));
    await outbox.tell("x", [hook(hears)]);
    const { sendDue } = outbox.instance();
    for (let attempt = 0; attempt < 12; attempt += 1) {
      await sendDue();
      await outbox.passTime();
    }
    expect(hears.received).toHaveLength(10);
    expect(await outbox.rows()).toMatchObject([{ state: "failed", attempts: 10, last_code: 503 }]);
  });

  test("never goes inward, and says so without an address", async () => {
    await outbox.tell("x", [{ channel: "webhook", url: "http://169.254.169.254/latest" }]);
    await outbox.instance().sendDue();
    const [row] = await outbox.rows();
    expect(row).toMatchObject({ state: "failed", attempts: 1 });
    expect(row?.last_error).not.toContain("169");
  });

  test("arrives as mail", async () => {
    const peer = await openMailPeer({});
    await outbox.tell("Checkout is down", [{ channel: "email", address: "ops@example.com" }]);
    await outbox.instance({ smtpUrl: peer.url }).sendDue();
    expect(peer.received.map(({ recipients, mail }) => [recipients, mail.subject])).toEqual([
      [["ops@example.com"], "Checkout is down"],
    ]);
    await peer.close();
  });

  test("is kept sealed: nothing in the database says to whom or what", async () => {
    const hears = outbox.receiver();
    await outbox.tell("a secret title", [hook(hears)]);
    const text = JSON.stringify(
      await outbox.sql`SELECT encode(sealed, 'escape') AS s, encode(target_hash, 'hex') AS h FROM deliveries`,
    );
    expect(text).not.toContain("secret");
    expect(text).not.toContain(hears.url);
  });
});

describe("what one receiver is told", () => {
  test("of one incident comes in order, while what it is told of others goes on", async () => {
    const [first, second] = [await outbox.makeIncident(), await outbox.makeIncident()];
    let isDown = true;
    const hears = outbox.receiver(({ body }) =>
      body.includes("one") && isDown ? new Response(null, { status: 500 }) : new Response(),
    );
    for (const title of ["one opened", "one resolved"])
      await outbox.tell(title, [hook(hears)], { incidentId: first });
    await outbox.tell("two opened", [hook(hears)], { incidentId: second });
    const { sendDue } = outbox.instance();
    await sendDue();
    expect(hears.titles.toSorted()).toEqual(["one opened", "two opened"]);
    isDown = false;
    await outbox.passTime();
    await sendDue();
    expect(hears.titles.filter((title) => title.startsWith("one"))).toEqual([
      "one opened",
      "one opened",
      "one resolved",
    ]);
  });

  test("is not told any more once something else is told in its place", async () => {
    const incidentId = await outbox.makeIncident();
    const hears = outbox.receiver();
    await outbox.tell("opened", [hook(hears)], { incidentId });
    const superseded = await outbox.sql.begin((tx) =>
      supersede(tx, outbox.organizationId, { incidentId, channels: ["webhook"] }),
    );
    expect(superseded).toBe(1);
    await outbox.instance().sendDue();
    expect(hears.received).toEqual([]);
    expect(await outbox.rows()).toMatchObject([{ state: "superseded", attempts: 0 }]);
  });

  test("counts as told where it was on its way when it was superseded", async () => {
    const incidentId = await outbox.makeIncident();
    const hears = outbox.receiver(() => "hang");
    await outbox.tell("opened", [hook(hears)], { incidentId });
    const { sender } = outbox.instance();
    sender.start();
    await eventually("it is on its way", () => hears.received.length > 0 || null);
    await outbox.sql.begin((tx) =>
      supersede(tx, outbox.organizationId, { incidentId, channels: ["webhook"] }),
    );
    const told = await outbox.sql.begin((tx) => toldTargets(tx, outbox.organizationId, incidentId));
    expect([...told]).toEqual([TELLER.hashOf(outbox.organizationId, hook(hears)).toString("base64")]);
    hears.release();
    await eventually("it is told", async () => (await outbox.rows())[0]?.state === "delivered" || null);
  });

  test("comes in order, also behind what is on its way still though something else is told in its place", async () => {
    const incidentId = await outbox.makeIncident();
    const hears = outbox.receiver(({ body }) => (body.includes("opened") ? "hang" : new Response()));
    await outbox.tell("opened", [hook(hears)], { incidentId });
    const { sender } = outbox.instance();
    sender.start();
    await eventually("it is on its way", () => hears.received.length > 0 || null);
    await outbox.sql.begin((tx) =>
      supersede(tx, outbox.organizationId, { incidentId, channels: ["webhook"] }),
    );
    await outbox.tell("resolved", [hook(hears)], { incidentId });
    await outbox.tell("of another incident", [hook(hears)], { incidentId: await outbox.makeIncident() });
    sender.wake();
    await eventually("the other one is told", () => hears.received.length === 2 || null);
    await Promise.all([outbox.instance(), outbox.instance()].map(({ sendDue }) => sendDue()));
    expect(hears.titles).toEqual(["opened", "of another incident"]);
    hears.release();
    await eventually("the end is told", () => hears.titles.at(-1) === "resolved" || null);
  });

  test("waits for nothing that one that died had on its way, once its lease is over", async () => {
    const incidentId = await outbox.makeIncident();
    const hears = outbox.receiver();
    await outbox.tell("opened", [hook(hears)], { incidentId });
    await outbox.sql`UPDATE deliveries SET claim_id = gen_random_uuid(), next_attempt_at = now() - interval '1 s'`;
    await outbox.sql.begin((tx) =>
      supersede(tx, outbox.organizationId, { incidentId, channels: ["webhook"] }),
    );
    await outbox.tell("resolved", [hook(hears)], { incidentId });
    await outbox.instance().sendDue();
    expect(hears.titles).toEqual(["resolved"]);
  });

  test("is not owed the end of what it never heard of", async () => {
    const incidentId = await outbox.makeIncident();
    await outbox.tell("opened", [hook(outbox.receiver())], { incidentId });
    await outbox.sql.begin((tx) =>
      supersede(tx, outbox.organizationId, { incidentId, channels: ["webhook"] }),
    );
    const told = await outbox.sql.begin((tx) => toldTargets(tx, outbox.organizationId, incidentId));
    expect([...told]).toEqual([]);
  });

  test("does not hold up a page to the same receiver while it is put off", async () => {
    const incidentId = await outbox.makeIncident();
    const hears = outbox.receiver(
      ({ body }) => new Response(null, { status: body.includes("opened") ? 503 : 204 }),
    );
    await outbox.tell("opened", [hook(hears)], { incidentId });
    const { sendDue } = outbox.instance();
    await sendDue();
    await outbox.tell("wake up", [hook(hears)], { incidentId, isPage: true });
    await outbox.tell("resolved", [hook(hears)], { incidentId });
    await sendDue();
    expect(hears.titles).toEqual(["opened", "wake up"]);
  });

  test("in one message counts as an attempt of each, in the order in which it happened", async () => {
    const rate = RATES.chatA?.messages ?? 0;
    const hears = outbox.receiver();
    const chat: Target = { channel: "chatA", url: hears.url };
    for (let nth = 0; nth < rate + 4; nth += 1) await outbox.tell(`problem ${nth}`, [chat]);
    const { sendDue } = outbox.instance();
    // What was written to last comes last where nobody says otherwise.
    await outbox.sql`UPDATE deliveries SET lane = lane WHERE id = (SELECT min(id) + ${rate + 1} FROM deliveries)`;
    await sendDue();
    const { attachments } = JSON.parse(hears.received.at(-1)?.body ?? "");
    expect(JSON.stringify(attachments)).toContain(
      [0, 1, 2, 3].map((nth) => `problem ${rate + nth}`).join("\\n"),
    );
    expect((await outbox.rows()).map(({ attempts }) => attempts)).toEqual(
      Array.from({ length: rate + 4 }, () => 1),
    );
  });

  test("in a storm comes in one message beyond its rate, while pages of people come each", async () => {
    const rate = RATES.chatA?.messages ?? 0;
    const hears = outbox.receiver();
    const chat: Target = { channel: "chatA", url: hears.url };
    for (let nth = 0; nth < rate + 30; nth += 1) await outbox.tell(`problem ${nth}`, [chat]);
    const { sendDue } = outbox.instance();
    await sendDue();
    const texts = (): string[] => hears.received.map(({ body }) => JSON.parse(body).text);
    expect(texts()).toHaveLength(rate + 1);
    expect(texts().at(-1)).toMatch(/^\d+ notifications: \d+ opened, 0 resolved$/);
    await outbox.tell("wake up", [chat], { isPage: true });
    await sendDue();
    expect(texts().at(-1)).toBe("wake up");
    // What was under way beside the message of several comes with the next one, a minute later.
    await outbox.sql`UPDATE deliveries SET delivered_at = delivered_at - interval '59 seconds' WHERE in_digest`;
    await outbox.passTime();
    await outbox.sql`UPDATE deliveries SET delivered_at = delivered_at - interval '5 seconds'`;
    await sendDue();
    expect((await outbox.rows()).every(({ state }) => state === "delivered")).toBe(true);
  });
});

describe("a receiver with a rate that is being told something", () => {
  test("holds up nobody else, pages to it neither, and hears the next of it when it has answered", async () => {
    const hanging = outbox.receiver((_, nth) => (nth === 1 ? "hang" : new Response(null, { status: 204 })));
    const hears = outbox.receiver();
    const chat: Target = { channel: "chatA", url: hanging.url };
    const lines: string[] = [];
    const { sender } = outbox.instance({ onLog: (line) => lines.push(line) });
    sender.start();
    await outbox.tell("hangs", [chat]);
    sender.wake();
    await eventually("it is being told", () => hanging.received.length === 1);
    await outbox.tell("waits", [chat]);
    await outbox.tell("goes", [hook(hears)]);
    await outbox.tell("wakes up", [chat], { isPage: true });
    sender.wake();
    await eventually("others are told, and somebody is woken", () => {
      return hears.received.length === 1 && hanging.received.length === 2;
    });
    expect(hanging.received.at(-1)?.body).toContain("wakes up");
    hanging.release();
    await eventually("the next is told", () => hanging.received.length === 3);
    expect(hanging.received.at(-1)?.body).toContain("waits");
    expect(lines).toEqual([]);
  });
});

describe("a place that hangs", () => {
  test("holds no more than its share, and everybody else is told meanwhile", async () => {
    const hanging = outbox.receiver(() => "hang");
    const hears = outbox.receiver();
    for (let nth = 0; nth < 200; nth += 1) await outbox.tell(`hangs ${nth}`, [hook(hanging)]);
    for (let nth = 0; nth < 50; nth += 1) await outbox.tell(`goes ${nth}`, [hook(hears)]);
    const { sender } = outbox.instance();
    sender.start();
    await eventually("the others are told", async () => (hears.received.length === 50 ? true : null));
    expect(hanging.received).toHaveLength(IN_FLIGHT_PER_LANE_MAX);
  });
});

describe("several instances", () => {
  test("tell everything once between them", async () => {
    const hears = outbox.receiver();
    for (let nth = 0; nth < 100; nth += 1) await outbox.tell(`n ${nth}`, [hook(hears)]);
    const instances = [outbox.instance(), outbox.instance(), outbox.instance()];
    for (const { sender } of instances) sender.start();
    await eventually("all are told", async () => {
      const states = await outbox.rows();
      return states.every(({ state }) => state === "delivered") ? true : null;
    });
    expect(hears.titles.toSorted()).toEqual(Array.from({ length: 100 }, (_, nth) => `n ${nth}`).toSorted());
  });

  test("tell what one that died had taken, once its lease is over", async () => {
    const hears = outbox.receiver();
    await outbox.tell("x", [hook(hears)]);
    await outbox.sql`
      UPDATE deliveries SET claim_id = gen_random_uuid(), attempts = 1, next_attempt_at = now() + interval '1 hour'`;
    const { sendDue } = outbox.instance();
    await sendDue();
    expect(hears.received).toEqual([]);
    await outbox.passTime();
    await sendDue();
    expect(hears.titles).toEqual(["x"]);
  });
});
