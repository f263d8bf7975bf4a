import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { backoffMs } from "../../../src/jobs/claims/backoff.ts";
import { createLogger } from "../../../src/log.ts";
import { ATTEMPTS_MAX, BACKOFF, LEASE_MS, WAITING_TOO_LONG_MS } from "../../../src/notify/mail/limits.ts";
import { MailSender } from "../../../src/notify/mail/mail-sender.ts";
import { outbox } from "../../../src/notify/mail/outbox.ts";
import { type SmtpServer, smtpServerOf, smtpTransport } from "../../../src/notify/mail/smtp-transport.ts";
import { passwordResetMail } from "../../../src/notify/mail/templates.ts";
import type { MailTransport } from "../../../src/notify/mail/transport.ts";
import { createMetrics } from "../../../src/server/metrics.ts";
import { restrictToOrganization } from "../../../src/storage/organization-transaction.ts";
import { eventually } from "../../harness/eventually.ts";
import { TEST_BOX } from "../../harness/ledger.ts";
import { letPass } from "../../harness/let-pass.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type MailPeer, type MailPeerBehaviour, openMailPeer } from "./mail-peer.ts";

const LINK = "https://obs.example.com/reset-password#token=s3cret-token-of-the-link";
const HOUR_MS = 3_600_000;

/** Of an instance; who may send what is decided by the database's. */
class Clock {
  nowMs = Date.now();
  readonly now = (): number => this.nowMs;
}

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

const peers: MailPeer[] = [];
const senders: MailSender[] = [];
beforeEach(async () => {
  await stores.postgres`DELETE FROM mail_outbox`;
});
afterEach(async () => {
  await Promise.all(senders.splice(0).map((sender) => sender.stop(5_000)));
  await Promise.all(peers.splice(0).map((peer) => peer.close()));
});

async function peerThat(behaviour: MailPeerBehaviour = {}): Promise<MailPeer> {
  const peer = await openMailPeer(behaviour);
  peers.push(peer);
  return peer;
}

/** One instance that sends; `lines` is its log. */
function instance(transport: string | MailTransport, clock: Clock) {
  const lines: string[] = [];
  const metrics = createMetrics();
  const sender = new MailSender({
    sql: stores.postgres,
    box: TEST_BOX,
    transport:
      typeof transport === "string"
        ? smtpTransport(smtpServerOf(transport), "obs <obs@obs.example.com>")
        : transport,
    metrics,
    log: createLogger("debug", { write: (line) => lines.push(line) }),
    now: clock.now,
  });
  senders.push(sender);
  return { sender, metrics, lines, sendDue: () => sender.sendDue(new AbortController().signal) };
}

async function enqueue(clock: Clock, to = "ana@example.com", lifeMs = HOUR_MS): Promise<void> {
  const message = passwordResetMail(to, LINK, 60);
  await stores.postgres.begin((tx) =>
    outbox({ box: TEST_BOX, now: clock.now })(tx, message, clock.now() + lifeMs),
  );
}

async function waiting(): Promise<number> {
  const rows = await stores.postgres`SELECT 1 FROM mail_outbox`;
  return rows.length;
}

describe("a mail in the outbox", () => {
  test("arrives at a real mail server as text and HTML, with the link, and is gone afterwards", async () => {
    const clock = new Clock();
    const peer = await peerThat();
    await enqueue(clock);
    await instance(peer.url, clock).sendDue();
    const [received] = peer.received;
    expect(received?.recipients).toEqual(["ana@example.com"]);
    expect(received?.from).toBe("obs@obs.example.com");
    expect(received?.mail.subject).toBe("Choose a new password");
    expect(received?.mail.from).toMatchObject({ name: "obs", address: "obs@obs.example.com" });
    expect(received?.mail.to).toEqual([expect.objectContaining({ address: "ana@example.com" })]);
    expect(received?.mail.text).toContain(LINK);
    expect(received?.mail.html).toContain(`href="${LINK}"`);
    expect(received?.mail.headers).toContainEqual(
      expect.objectContaining({ key: "auto-submitted", value: "auto-generated" }),
    );
    expect(await waiting()).toBe(0);
  });

  test("reaches addresses and comes from names of every script", async () => {
    const clock = new Clock();
    const peer = await peerThat();
    const from = "Ünï Logs <logs@bücher.example>";
    await enqueue(clock, "ana@bücher.example");
    await enqueue(clock, "björn@bücher.example");
    await instance(smtpTransport(smtpServerOf(peer.url), from), clock).sendDue();
    expect(peer.received.map(({ recipients }) => recipients)).toEqual([
      ["ana@bücher.example"],
      ["björn@bücher.example"],
    ]);
    const [first] = peer.received;
    expect(first?.mail.from).toMatchObject({ name: "Ünï Logs", address: "logs@xn--bcher-kva.example" });
    expect(first?.mail.messageId).toEndWith("@xn--bcher-kva.example>");
  });

  test("is sent when its transaction is kept, and never when it is not", async () => {
    const clock = new Clock();
    const peer = await peerThat();
    const message = passwordResetMail("ana@example.com", LINK, 60);
    const failed = stores.postgres.begin(async (tx) => {
      await outbox({ box: TEST_BOX, now: clock.now })(tx, message, clock.now() + HOUR_MS);
      throw new Error("the cause did not come about");
    });
    await expect(failed).rejects.toThrow("the cause did not come about");
    await instance(peer.url, clock).sendDue();
    expect(peer.received).toEqual([]);
  });

  test("is written by what is restricted to an organisation, which can read none", async () => {
    const clock = new Clock();
    await stores.postgres.begin(async (tx) => {
      await restrictToOrganization(tx, 1);
      const message = passwordResetMail("ana@example.com", LINK, 60);
      await outbox({ box: TEST_BOX, now: clock.now })(tx, message, clock.now() + HOUR_MS);
    });
    expect(await waiting()).toBe(1);
    const read = stores.postgres.begin(async (tx) => {
      await restrictToOrganization(tx, 1);
      return tx`SELECT * FROM mail_outbox`;
    });
    await expect(read).rejects.toThrow("permission denied");
  });

  test("tells whoever reads the database neither link nor recipient, nor whoever reads the log", async () => {
    const clock = new Clock();
    const peer = await peerThat({ refuseMessage: () => ({ code: 451, message: "later" }) });
    await enqueue(clock);
    const [row] = await stores.postgres<{ row: string; sealed: Uint8Array }[]>`
      SELECT m::text AS row, sealed FROM mail_outbox m`;
    const stored = `${row?.row} ${Buffer.from(row?.sealed ?? []).toString("latin1")}`;
    expect(stored).not.toContain("s3cret-token");
    expect(stored).not.toContain("ana@example.com");
    const { sendDue, lines } = instance(peer.url, clock);
    await sendDue();
    expect(lines.join("")).toContain("tried again");
    expect(lines.join("")).not.toContain("s3cret-token");
  });

  test("is sent once by two instances that look at the same moment", async () => {
    const clock = new Clock();
    const peer = await peerThat();
    for (let i = 0; i < 12; i += 1) await enqueue(clock, `person${i}@example.com`);
    const [one, two] = [instance(peer.url, clock), instance(peer.url, clock)];
    await Promise.all([one.sendDue(), two.sendDue()]);
    await Promise.all([one.sendDue(), two.sendDue()]);
    const to = peer.received.flatMap(({ recipients }) => recipients);
    expect(to.toSorted()).toEqual(Array.from({ length: 12 }, (_, i) => `person${i}@example.com`).toSorted());
  });

  test("of an instance that died is sent by another once the lease is over, under the same Message-ID", async () => {
    const clock = new Clock();
    const peer = await peerThat();
    const seen: string[] = [];
    const dies: MailTransport = {
      kind: "smtp",
      send: (_message, id) => {
        seen.push(id);
        return Promise.withResolvers<void>().promise;
      },
      close: () => undefined,
    };
    await enqueue(clock);
    void instance(dies, clock).sendDue();
    await eventually("the mail is being sent", () => seen.length === 1);
    const survivor = instance(peer.url, clock);
    await survivor.sendDue();
    expect(peer.received).toEqual([]);
    await letPass(stores.postgres, "mail_outbox", LEASE_MS);
    await survivor.sendDue();
    expect(peer.received[0]?.mail.messageId).toBe(`<${seen[0]}@obs.example.com>`);
    senders.shift();
  });

  test("does not hold up the others when it cannot be opened", async () => {
    const clock = new Clock();
    const peer = await peerThat();
    const nowMs = new Date(clock.now());
    await stores.postgres`
      INSERT INTO mail_outbox (sealed, created_at, next_attempt_at, expires_at)
      VALUES (${Buffer.alloc(64)}, ${nowMs}, ${nowMs}, ${new Date(clock.now() + HOUR_MS)})`;
    await enqueue(clock);
    await instance(peer.url, clock).sendDue();
    expect(peer.received).toHaveLength(1);
  });
});

describe("a mail that cannot be sent", () => {
  test("is tried again after a pause that grows, and arrives once the server takes it", async () => {
    const clock = new Clock();
    let refusals = 0;
    const peer = await peerThat({
      refuseMessage: () => (refusals++ < 2 ? { code: 451, message: "try later" } : null),
    });
    await enqueue(clock);
    const { sendDue } = instance(peer.url, clock);
    await sendDue();
    await letPass(stores.postgres, "mail_outbox", -HOUR_MS);
    await sendDue();
    expect(refusals).toBe(1);
    await letPass(stores.postgres, "mail_outbox", HOUR_MS + backoffMs(BACKOFF, 1));
    await sendDue();
    await letPass(stores.postgres, "mail_outbox", backoffMs(BACKOFF, 2));
    await sendDue();
    expect(peer.received).toHaveLength(1);
  });

  test("is kept while there is no server at all, and expires with the link in it", async () => {
    const clock = new Clock();
    const peer = await openMailPeer();
    await peer.close();
    const { sendDue, metrics } = instance(peer.url, clock);
    await enqueue(clock);
    await sendDue();
    expect(await waiting()).toBe(1);
    await letPass(stores.postgres, "mail_outbox", HOUR_MS);
    await sendDue();
    expect(await waiting()).toBe(0);
    const { text } = await metrics.expose();
    expect(text).toContain('obs_mails_total{outcome="failed"} 1');
    expect(text).toContain('obs_mails_total{outcome="expired"} 1');
  });

  test("is given up when the server refuses the recipient for good", async () => {
    const clock = new Clock();
    const peer = await peerThat({ refuseRecipient: () => ({ code: 550, message: "no such user" }) });
    await enqueue(clock);
    const { sendDue, metrics } = instance(peer.url, clock);
    await sendDue();
    expect(await waiting()).toBe(0);
    expect((await metrics.expose()).text).toContain('obs_mails_total{outcome="given_up"} 1');
  });

  test("is kept when the server refuses this server's login, which the operator can mend", async () => {
    const clock = new Clock();
    const peer = await peerThat({ credentials: { user: "obs", password: "right" } });
    await enqueue(clock);
    const refused = instance(peer.url.replace("right", "mistyped-s3cret"), clock);
    await refused.sendDue();
    expect(await waiting()).toBe(1);
    expect(refused.lines.join("")).toContain("535");
    const encoded = ["mistyped-s3cret", "\0obs\0mistyped-s3cret"].map((text) => btoa(text));
    for (const secret of ["mistyped-s3cret", ...encoded])
      expect(refused.lines.join("")).not.toContain(secret);
    await letPass(stores.postgres, "mail_outbox", backoffMs(BACKOFF, 1));
    await instance(peer.url, clock).sendDue();
    expect(peer.received).toHaveLength(1);
  });

  test("is given up after a bounded number of attempts", async () => {
    const clock = new Clock();
    const peer = await peerThat({ refuseMessage: () => ({ code: 451, message: "never" }) });
    await enqueue(clock, "ana@example.com", 1_000 * HOUR_MS);
    await stores.postgres`UPDATE mail_outbox SET attempts = ${ATTEMPTS_MAX - 1}`;
    await instance(peer.url, clock).sendDue();
    expect(await waiting()).toBe(0);
  });

  test("makes the server's health degraded, not down, once it has waited for long", async () => {
    const clock = new Clock();
    const peer = await peerThat({ refuseMessage: () => ({ code: 451, message: "later" }) });
    const { sender, sendDue } = instance(peer.url, clock);
    await enqueue(clock);
    await sendDue();
    expect(sender.status()).toEqual({ state: "up" });
    clock.nowMs += WAITING_TOO_LONG_MS + 1;
    expect(sender.status()).toEqual({ state: "degraded", detail: "Mails wait to be sent." });
    expect(sender.backlog()).toEqual({ waiting: 1, oldestAgeMs: WAITING_TOO_LONG_MS + 1 });
  });
});

describe("a mail server", () => {
  const server = (url: string, overrides: Partial<SmtpServer>): MailTransport =>
    smtpTransport({ ...smtpServerOf(url), ...overrides }, "obs <obs@obs.example.com>");
  const message = passwordResetMail("ana@example.com", LINK, 60);
  const never = new AbortController().signal;

  test("that hides STARTTLS is not told the password", async () => {
    const peer = await peerThat({ credentials: { user: "obs", password: "right" } });
    const transport = server(peer.url, { requireTls: true });
    await expect(transport.send(message, "id", never)).rejects.toThrow(/STARTTLS/i);
    expect(peer.received).toEqual([]);
    expect(peer.logins()).toBe(0);
  });

  test("whose certificate nobody vouches for is not told anything", async () => {
    const peer = await peerThat({ credentials: { user: "obs", password: "right" }, secure: true });
    const transport = server(peer.url, {});
    await expect(transport.send(message, "id", never)).rejects.toThrow(/certificate/i);
    expect(peer.received).toEqual([]);
    expect(peer.logins()).toBe(0);
  });
});

test("a running sender finds mails by itself, sends at once when told, and stops while a server hangs", async () => {
  const clock = new Clock();
  const peer = await peerThat();
  const { sender } = instance(peer.url, clock);
  sender.start();
  await enqueue(clock);
  sender.wake();
  await eventually("the mail arrives", () => peer.received.length === 1);
  await eventually("it is done with", async () => (await waiting()) === 0);
  await sender.stop(5_000);

  const started = Promise.withResolvers<void>();
  const hangs: MailTransport = {
    kind: "smtp",
    send: (_message, _id, signal) =>
      new Promise((_resolve, reject) => {
        started.resolve();
        signal.addEventListener("abort", () => reject(new Error("aborted")));
      }),
    close: () => undefined,
  };
  const hanging = instance(hangs, clock).sender;
  await enqueue(clock);
  hanging.start();
  await started.promise;
  await hanging.stop(5_000);
  // Given back at once and uncounted: the next start does not wait for the lease.
  const rows = await stores.postgres`
    SELECT attempts, next_attempt_at < now() + interval '1 minute' AS is_due FROM mail_outbox`;
  expect([...rows]).toEqual([{ attempts: 0, is_due: true }]);
});
