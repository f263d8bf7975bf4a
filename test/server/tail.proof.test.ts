/** The promise of live tails under kill -9 of the real server: a reader that comes back has every entry exactly once. */
import { expect, test } from "bun:test";
import { EventReader } from "../domains/logs/tail/event-reader.ts";
import { eventually } from "../harness/eventually.ts";
import { proofRounds } from "../harness/proof.ts";
import { makeToken, type ServerProcess, startServer } from "../harness/server-process.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

const ROUNDS = proofRounds({ sample: 2, whole: 6 });
const CLIENTS = 3;
const BATCH = 20;
/** So slow that two rounds without a reader stay within the gap that a tail fills; beyond it, entries are counted. */
const PAUSE_MS = 40;

/** Clients that send entries with numbers as their messages, and what they were told. */
class Senders {
  readonly acknowledged = new Set<string>();
  readonly sent = new Set<string>();
  #isStopping = false;
  #next = 0;
  #clients: Promise<void>[] = [];

  start(url: string, token: string): void {
    this.#clients = Array.from({ length: CLIENTS }, async () => {
      while (!this.#isStopping) {
        await this.#send(url, token);
        await Bun.sleep(PAUSE_MS);
      }
    });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#clients);
  }

  async #send(url: string, token: string): Promise<void> {
    const messages = Array.from({ length: BATCH }, () => String(this.#next++));
    for (const message of messages) this.sent.add(message);
    try {
      const response = await fetch(`${url}/api/v1/logs/ingest`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(messages.map((message) => ({ message }))),
      });
      await response.arrayBuffer();
      if (response.status === 202) for (const message of messages) this.acknowledged.add(message);
    } catch {
      await Bun.sleep(20);
    }
  }
}

test("every acknowledged entry is shown exactly once over rounds of kill -9", async () => {
  using directory = temporaryDirectory();
  let server: ServerProcess = await startServer({ dataDirectory: directory.path });
  const { port, url } = server;
  const token = await makeToken(url);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const made = await fetch(`${url}/api/v1/logs/tail/session`, { method: "POST", headers, body: "{}" });
  const session: { token: string } = JSON.parse(await made.text());
  const address = `${url}/api/v1/logs/tail?token=${session.token}`;
  let tail = await EventReader.open(address);
  await tail.next("");
  const shown: string[] = [];
  const senders = new Senders();
  senders.start(url, token);
  for (let round = 0; round < ROUNDS; round++) {
    const before = senders.acknowledged.size;
    await eventually("entries are acknowledged", () => senders.acknowledged.size > before + 200);
    await Bun.sleep(Math.random() * 500);
    server.kill("SIGKILL");
    await server.exited;
    await eventually("the connection is cut", () => tail.isEnded);
    shown.push(...tail.messages);
    const { lastEventId } = tail;
    server = await startServer({ dataDirectory: directory.path, port });
    tail = await EventReader.open(address, { "last-event-id": lastEventId });
    expect(tail.status).toBe(200);
  }
  await senders.stop();
  await eventually("the last acknowledged entry is shown", () => {
    const all = new Set([...shown, ...tail.messages]);
    return [...senders.acknowledged].every((message) => all.has(message));
  });
  shown.push(...tail.messages);
  tail.close();
  expect(await server.stop()).toBe(0);
  expect(shown.length).toBe(new Set(shown).size);
  expect(shown.filter((message) => !senders.sent.has(message))).toEqual([]);
  expect(senders.acknowledged.size).toBeGreaterThan(ROUNDS * 200);
});

test("a server that is asked to stop ends its tails first and exits cleanly", async () => {
  using directory = temporaryDirectory();
  const server = await startServer({ dataDirectory: directory.path });
  const token = await makeToken(server.url);
  const tail = await EventReader.open(`${server.url}/api/v1/logs/tail`, { authorization: `Bearer ${token}` });
  await tail.next("");
  const exited = server.stop();
  await tail.next("end");
  expect(await exited).toBe(0);
});
