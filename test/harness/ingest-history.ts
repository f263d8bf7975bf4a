import { type IngestWire, NATIVE_WIRE } from "./ingest-wires.ts";

/** What became of an entry that a client sent. */
type Outcome = "acknowledged" | "refused" | "unknown";

const BATCH = 25;

/**
 * Clients that send entries with distinct messages to a server which may die at any moment, and remember what each of
 * them was told. Without an answer an entry may or may not be stored; once at the most.
 */
export class IngestHistory {
  readonly #outcomes = new Map<string, Outcome>();
  readonly #statuses = new Map<number, number>();
  #stopping = false;
  #clients: Promise<void>[] = [];
  #next = 0;

  /**
   * Starts clients that send until `stop`, each in one of the ways in turn. The address and token are asked for anew at
   * each request.
   */
  start(
    clients: number,
    target: () => { url: string; token: string },
    { pauseMs = 1, wires = [NATIVE_WIRE] }: { pauseMs?: number; wires?: readonly IngestWire[] } = {},
  ): void {
    this.#stopping = false;
    this.#clients = Array.from({ length: clients }, async (_, client) => {
      const wire = wires[client % wires.length] ?? NATIVE_WIRE;
      while (!this.#stopping) {
        await this.#send(target(), wire);
        await Bun.sleep(pauseMs);
      }
    });
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#clients);
  }

  get acknowledged(): number {
    return [...this.#outcomes.values()].filter((outcome) => outcome === "acknowledged").length;
  }

  /** How often each status was answered; 0 stands for no answer. */
  get statuses(): ReadonlyMap<number, number> {
    return this.#statuses;
  }

  /** What is wrong with the messages found in the store; empty when every promise was kept. */
  violations(stored: ReadonlyMap<string, number>): string[] {
    const violations: string[] = [];
    for (const [message, outcome] of this.#outcomes) {
      const count = stored.get(message) ?? 0;
      if (outcome === "acknowledged" && count !== 1)
        violations.push(`acknowledged, found ${count} times: ${message}`);
      if (outcome === "refused" && count !== 0) violations.push(`refused, found ${count} times: ${message}`);
      if (count > 1) violations.push(`${outcome}, found ${count} times: ${message}`);
    }
    for (const message of stored.keys())
      if (!this.#outcomes.has(message)) violations.push(`never sent: ${message}`);
    return violations;
  }

  async #send({ url, token }: { url: string; token: string }, wire: IngestWire): Promise<void> {
    const messages = Array.from({ length: BATCH }, () => `entry ${this.#next++}`);
    for (const message of messages) this.#outcomes.set(message, "unknown");
    let status = 0;
    try {
      const response = await fetch(`${url}${wire.path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(wire.body(messages)),
      });
      await response.arrayBuffer();
      status = response.status;
    } catch {
      await Bun.sleep(20);
    }
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
    if (status === 0) return;
    const outcome = status === wire.acknowledges ? "acknowledged" : "refused";
    for (const message of messages) this.#outcomes.set(message, outcome);
    if (status === 503) await Bun.sleep(50);
  }
}
