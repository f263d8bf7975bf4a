/**
 * Requests with a key that store logs, on instances that die and come back in any order before the log store has
 * anything: stored once, whoever had them when.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { INSTANCE_COUNT } from "../../../ingest/log-id.ts";
import { eventually } from "../../harness/eventually.ts";
import { letPass } from "../../harness/let-pass.ts";
import { proofRounds } from "../../harness/proof.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type IngestInstance, startIngestInstance, timesStored } from "./ingest-instance.ts";
import { makeOrganization } from "./thing-server.ts";

const HISTORIES = proofRounds({ sample: 3, whole: 300 });
/** Histories at the same time, each in stores of its own: most of their time they wait for leases and for a log store that is away. */
const LANES = proofRounds({ sample: 1, whole: 3 });
const LEASE_OVER_MS = 60_000;
/** Where nobody has the machine for seconds, leases are lost and everything begins anew: a bound on what never comes. */
const END_TIMEOUT_MS = 600_000;
const HOLD_MS = 3_600_000;

/** What becomes of a request in a life of an instance: it is answered, or stuck until the instance dies. */
type Fate = "unsent" | "answered" | "stuck before" | "stuck after";
const FATES: readonly Fate[] = ["unsent", "answered", "stuck before", "stuck after"];

/** What an instance does with requests that nobody has a lease of. */
interface Life {
  readonly who: string;
  /** It begins with another process, which finds what the one before left. */
  readonly isNew: boolean;
  /** Who is held back asks again after the hold. */
  readonly isPatient: boolean;
  readonly isKilled: boolean;
  /** Before it all that are alive say what they know. */
  readonly isSettled: boolean;
}

interface History {
  readonly lives: readonly Life[];
  /** Of each request, its fate in each life. */
  readonly requests: readonly (readonly Fate[])[];
  /** In which order the instances come back in the end. */
  readonly order: readonly string[];
}

/** Stores in which one history happens at a time: all rows of keys become older together. */
interface Lane {
  readonly stores: TestStores;
  readonly organizationId: number;
}

const lanes: Lane[] = [];
beforeAll(async () => {
  for (let i = 0; i < LANES; i++) {
    const stores = await openTestStores();
    lanes.push({ stores, organizationId: await makeOrganization(stores.postgres) });
  }
});
afterAll(async () => {
  for (const { stores } of lanes) await stores.close();
});

/** The instances of one history. */
class Instances {
  static #numbers = 0;
  readonly #lane: Lane;
  readonly #directory = temporaryDirectory();
  readonly #running = new Map<string, IngestInstance>();

  constructor(lane: Lane) {
    this.#lane = lane;
  }

  get running(): readonly IngestInstance[] {
    return [...this.#running.values()];
  }

  async start(name: string, isStoreAway: boolean): Promise<IngestInstance> {
    await this.kill(name);
    // There are many more numbers than instances that live at a time.
    Instances.#numbers = (Instances.#numbers + 1) % INSTANCE_COUNT;
    const instance = await startIngestInstance(this.#lane.stores, {
      directory: `${this.#directory.path}/${name}`,
      organizationId: this.#lane.organizationId,
      instance: Instances.#numbers,
      holdMs: HOLD_MS,
      isStoreAway,
    });
    this.#running.set(name, instance);
    return instance;
  }

  async startIfDead(name: string): Promise<IngestInstance> {
    return this.#running.get(name) ?? (await this.start(name, true));
  }

  async kill(name: string): Promise<void> {
    await this.#running.get(name)?.die();
    this.#running.delete(name);
  }

  async settle(): Promise<void> {
    for (const instance of this.running) await instance.settle();
  }

  /** Time passes for all keys. */
  letPass(ms: number): Promise<void> {
    return letPass(this.#lane.stores.postgres, "idempotency_keys", ms);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of this.#running.keys()) await this.kill(name);
    this.#directory[Symbol.dispose]();
  }
}

/** Sends requests of one fate and waits until each is answered or stuck; the keys of those that were held back. */
async function send(instance: IngestInstance, keys: readonly string[], fate: Fate): Promise<string[]> {
  instance.stuck = fate === "stuck before" ? "before" : fate === "stuck after" ? "after" : null;
  const stuckBefore = instance.stuckRequests;
  const heldBack: string[] = [];
  let answered = 0;
  for (const key of keys)
    void instance.post(key, [key]).then((answer) => {
      if (!answer.ok) heldBack.push(key);
      answered += 1;
    });
  const settled = (): number => answered + instance.stuckRequests - stuckBefore;
  await eventually("all are answered or stuck", () => settled() === keys.length);
  return heldBack;
}

async function live(instances: Instances, life: Life, fateOf: ReadonlyMap<string, Fate>): Promise<void> {
  await instances.letPass(LEASE_OVER_MS);
  const instance = await (life.isNew ? instances.start(life.who, true) : instances.startIfDead(life.who));
  if (life.isSettled) await instances.settle();
  const sendAll = async (among: (key: string) => boolean): Promise<Set<string>> => {
    const heldBack = new Set<string>();
    for (const fate of FATES) {
      const keys = [...fateOf].flatMap(([key, its]) => (its === fate && among(key) ? [key] : []));
      if (fate !== "unsent") for (const key of await send(instance, keys, fate)) heldBack.add(key);
    }
    return heldBack;
  };
  const heldBack = await sendAll(() => true);
  if (life.isPatient) {
    await instances.letPass(HOLD_MS);
    await sendAll((key) => heldBack.has(key));
  }
  if (life.isKilled) await instances.kill(life.who);
}

/** How often each request is stored after this. */
async function happenedTo(lane: Lane, { lives, requests, order }: History): Promise<number[]> {
  await using instances = new Instances(lane);
  const keys = requests.map(() => crypto.randomUUID());
  for (const [at, life] of lives.entries())
    await live(instances, life, new Map(keys.map((key, i) => [key, requests[i]?.[at] ?? "unsent"])));
  for (const name of order) await instances.kill(name);
  // Then all come back, with the log store, and the sender goes on until it is answered.
  await instances.letPass(LEASE_OVER_MS);
  for (const name of order) await instances.start(name, false);
  const isAnswered = async (): Promise<boolean> => {
    await instances.settle();
    const { running } = instances;
    const answers = await Promise.all(keys.map((key, i) => running[i % running.length]?.post(key, [key])));
    return answers.every((answer) => answer?.ok);
  };
  await eventually("everything is answered", isAnswered, END_TIMEOUT_MS);
  const isStored = async (): Promise<boolean> => {
    await instances.settle();
    return instances.running.every((instance) => instance.isFlushed());
  };
  await eventually("the log store has everything", isStored, END_TIMEOUT_MS);
  for (const name of order) await instances.kill(name);
  return timesStored(lane.stores, keys);
}

async function expectOnce(lane: Lane, history: History): Promise<void> {
  expect(await happenedTo(lane, history)).toEqual(history.requests.map(() => 1));
}

/** Every way in which a request can fare in so many lives. */
function allFates(lives: number): Fate[][] {
  if (lives === 0) return [[]];
  return allFates(lives - 1).flatMap((before) => FATES.map((fate) => [...before, fate]));
}

const DEATHS = [
  ["A", "B"],
  ["A", "B", "A"],
  ["A", "B", "B"],
].flatMap((names) =>
  [
    ["A", "B"],
    ["B", "A"],
  ].map((order) => ({ names, order })),
);

test.each(DEATHS)(
  "of two instances, dying in the order $names and coming back in the order $order, one stores a request, once",
  async ({ names, order }) => {
    const life = { isNew: true, isPatient: true, isKilled: true, isSettled: false };
    const lives = names.map((who) => ({ ...life, who }));
    const [lane] = lanes;
    if (lane === undefined) throw new Error("there are no stores");
    await expectOnce(lane, { lives, requests: allFates(names.length), order });
  },
  { timeout: 600_000 },
);

test(
  "however three instances live and die, whether asked or not, a request is stored once",
  async () => {
    const names = ["A", "B", "C"];
    const boolean = fc.boolean();
    const life = fc.record({
      who: fc.constantFrom(...names),
      isNew: boolean,
      isPatient: boolean,
      isKilled: boolean,
      isSettled: boolean,
    });
    const histories = fc.record({
      lives: fc.array(life, { minLength: 3, maxLength: 6 }),
      requests: fc.array(fc.array(fc.constantFrom(...FATES), { minLength: 6, maxLength: 6 }), {
        minLength: 24,
        maxLength: 24,
      }),
      order: fc.shuffledSubarray(names, { minLength: names.length }),
    });
    // The first failure is told as it is: what happens at the same time does not happen again as it did.
    const options = { numRuns: Math.ceil(HISTORIES / LANES), endOnFailure: true };
    await Promise.all(
      lanes.map((lane) =>
        fc.assert(
          fc.asyncProperty(histories, (history) => expectOnce(lane, history)),
          options,
        ),
      ),
    );
  },
  { timeout: 3_600_000 },
);
