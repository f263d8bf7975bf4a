import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Admission } from "../../src/concurrency/admission.ts";
import { DependencyError } from "../../src/errors.ts";

const QUERY = { what: "a query", dependency: "clickhouse" };
const ONE = { organizationId: 1 };
const never = new AbortController().signal;

describe("admission", () => {
  test("lets so many run at a time, in the order they came", async () => {
    const admission = new Admission({ ...QUERY, maxRunning: 2, maxWaiting: 10 });
    const order: number[] = [];
    let running = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        admission.run(ONE, never, async () => {
          order.push(i);
          most = Math.max(most, ++running);
          await Bun.sleep(1);
          running--;
        }),
      ),
    );
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(most).toBe(2);
  });

  test("refuses what would wait beyond its bound, and takes more once there is room", async () => {
    const admission = new Admission({ ...QUERY, maxRunning: 1, maxWaiting: 1 });
    const gate = Promise.withResolvers<void>();
    const first = admission.run(ONE, never, () => gate.promise);
    const second = admission.run(ONE, never, async () => "second");
    await expect(admission.run(ONE, never, async () => "third")).rejects.toBeInstanceOf(DependencyError);
    gate.resolve();
    await first;
    expect(await second).toBe("second");
    expect(await admission.run(ONE, never, async () => "fourth")).toBe("fourth");
  });

  test("forgets who leaves while waiting, and goes on after a task that failed", async () => {
    const admission = new Admission({ ...QUERY, maxRunning: 1, maxWaiting: 2 });
    const gate = Promise.withResolvers<void>();
    const failing = admission.run(ONE, never, () => gate.promise);
    const controller = new AbortController();
    let ran = false;
    const leaving = admission.run(ONE, controller.signal, async () => {
      ran = true;
    });
    const staying = admission.run(ONE, never, async () => "stayed");
    controller.abort();
    await expect(leaving).rejects.toBeInstanceOf(DependencyError);
    await expect(admission.run(ONE, controller.signal, async () => undefined)).rejects.toBeInstanceOf(
      DependencyError,
    );
    gate.reject(new Error("failed"));
    await expect(failing).rejects.toThrow("failed");
    expect(await staying).toBe("stayed");
    expect(ran).toBe(false);
  });

  test("leaves places to organisations that have none, however many one of them asks for", async () => {
    const admission = new Admission({ ...QUERY, maxRunning: 8, maxWaiting: 100, maxRunningOfOne: 4 });
    const gates = new Gates();
    const busy = Array.from({ length: 40 }, () => gates.run(admission, { organizationId: 1 }));
    expect(gates.runningOf(1)).toBe(4);
    const others = [2, 3, 4].map((organizationId) => gates.run(admission, { organizationId }));
    expect([2, 3, 4].map((id) => gates.runningOf(id))).toEqual([1, 1, 1]);
    gates.openAll();
    await Promise.all([...busy, ...others]);
    expect(admission.organizations).toBe(0);
  });

  test("gives a place that comes free to the organisation that runs least", async () => {
    const admission = new Admission({ ...QUERY, maxRunning: 2, maxWaiting: 100 });
    const gates = new Gates();
    const tasks = Array.from({ length: 10 }, () => gates.run(admission, { organizationId: 1 }));
    tasks.push(gates.run(admission, { organizationId: 2 }));
    expect(gates.runningOf(2)).toBe(0);
    await gates.openOne(1);
    expect([gates.runningOf(1), gates.runningOf(2)]).toEqual([1, 1]);
    gates.openAll();
    await Promise.all(tasks);
  });

  test("bounds what one organisation has waiting, and what one person runs within it", async () => {
    const admission = new Admission({
      ...QUERY,
      maxRunning: 8,
      maxWaiting: 10,
      maxRunningOfOne: 4,
      maxWaitingOfOne: 2,
      maxRunningOfPerson: 3,
    });
    const gates = new Gates();
    const tasks = Array.from({ length: 5 }, () => gates.run(admission, { organizationId: 1, userId: 1 }));
    expect(gates.runningOf(1)).toBe(3);
    const refused = admission.run({ organizationId: 1, userId: 1 }, never, async () => undefined);
    await expect(refused).rejects.toMatchObject({ dependency: "clickhouse", retryable: true });
    tasks.push(gates.run(admission, { organizationId: 1, userId: 2 }));
    expect(gates.runningOf(1)).toBe(4);
    tasks.push(gates.run(admission, { organizationId: 2, userId: 3 }));
    expect(gates.runningOf(2)).toBe(1);
    gates.openAll();
    await Promise.all(tasks);
  });

  test("lets who needs memory wait for it, fairly, and nobody else wait for them", async () => {
    const admission = new Admission({ ...QUERY, maxRunning: 8, maxWaiting: 100, maxRunningOfOne: 4 });
    const gates = new Gates();
    const large = { memory: 0.6, needsMemory: true };
    const tasks = [1, 1, 1, 2].map((organizationId) => gates.run(admission, { organizationId, ...large }));
    expect([gates.runningOf(1), gates.runningOf(2)]).toEqual([1, 0]);
    // One that would have memory begins without, also where there is some, since others wait for it.
    const seen = await admission.run({ organizationId: 3, memory: 0.1 }, never, async (place) => place);
    expect(seen).toEqual({ hasMemory: false, running: 2, runningOfOne: 1 });
    await gates.openOne(1);
    expect([gates.runningOf(1), gates.runningOf(2)]).toEqual([0, 1]);
    await gates.openOne(2);
    expect([gates.runningOf(1), gates.runningOf(2)]).toEqual([1, 0]);
    gates.openAll();
    await Promise.all(tasks);
    const alone = await admission.run({ organizationId: 3, memory: 1 }, never, async (place) => place);
    expect(alone).toEqual({ hasMemory: true, running: 1, runningOfOne: 1 });
  });

  test("gives memory to a large task though smaller ones would fit before it", async () => {
    const admission = new Admission({ ...QUERY, maxRunning: 8, maxWaiting: 100 });
    const gates = new Gates();
    const tasks = [0.5, 1, 0.5].map((memory, i) =>
      gates.run(admission, { organizationId: i, memory, needsMemory: true }),
    );
    expect([0, 1, 2].map((id) => gates.runningOf(id))).toEqual([1, 0, 0]);
    await gates.openOne(0);
    expect([0, 1, 2].map((id) => gates.runningOf(id))).toEqual([0, 1, 0]);
    gates.openAll();
    await Promise.all(tasks);
  });

  test("goes on with who waits behind one that leaves while it waits for memory", async () => {
    const admission = new Admission({ ...QUERY, maxRunning: 8, maxWaiting: 100 });
    const gates = new Gates();
    const needs = (memory: number) => ({ memory, needsMemory: true });
    const holding = gates.run(admission, { organizationId: 1, ...needs(0.5) });
    const leaver = new AbortController();
    const leaving = admission.run({ organizationId: 2, ...needs(1) }, leaver.signal, async () => undefined);
    const behind = admission.run({ organizationId: 3, ...needs(0.5) }, never, async () => "ran");
    leaver.abort();
    await expect(leaving).rejects.toBeInstanceOf(DependencyError);
    expect(await behind).toBe("ran");
    gates.openAll();
    await holding;
    expect(admission.organizations).toBe(0);
  });

  test("never runs more than it may, for any order of calls, ends and departures, and forgets everybody", async () => {
    const call = fc.record({
      organizationId: fc.integer({ min: 1, max: 4 }),
      userId: fc.integer({ min: 1, max: 3 }),
      leaves: fc.boolean(),
      memory: fc.double({ min: 0, max: 1, noNaN: true }),
      needsMemory: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 40 }), async (calls) => {
        const admission = new Admission({
          ...QUERY,
          maxRunning: 5,
          maxWaiting: 50,
          maxRunningOfOne: 3,
          maxRunningOfPerson: 2,
        });
        const running = new Map<string, number>();
        let memory = 0;
        const add = (key: string, by: number): number => {
          const count = (running.get(key) ?? 0) + by;
          running.set(key, count);
          return count;
        };
        await Promise.all(
          calls.map(({ leaves, ...who }) => {
            const caller = new AbortController();
            const keys = [
              ["all", 5],
              [`o${who.organizationId}`, 3],
              [`p${who.organizationId}.${who.userId}`, 2],
            ] as const;
            const task = admission.run(who, caller.signal, async ({ hasMemory }) => {
              for (const [key, most] of keys) expect(add(key, 1)).toBeLessThanOrEqual(most);
              if (who.needsMemory) expect(hasMemory).toBe(true);
              if (hasMemory) memory += who.memory;
              expect(memory).toBeLessThanOrEqual(1 + 1e-9);
              await Promise.resolve();
              if (hasMemory) memory -= who.memory;
              for (const [key] of keys) add(key, -1);
            });
            if (leaves) caller.abort();
            return task.catch((error: unknown) => expect(error).toBeInstanceOf(DependencyError));
          }),
        );
        expect(admission.organizations).toBe(0);
        // All is given back, to the last part.
        const last = await admission.run({ organizationId: 9, memory: 1 }, never, async (place) => place);
        expect(last.hasMemory).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});

/** Tasks that run until they are let go. */
class Gates {
  readonly #running: { organizationId: number; open: () => void }[] = [];
  #isOpen = false;

  run(
    admission: Admission,
    who: { organizationId: number; userId?: number; memory?: number; needsMemory?: boolean },
  ): Promise<void> {
    return admission.run(who, never, async () => {
      if (this.#isOpen) return;
      const gate = Promise.withResolvers<void>();
      this.#running.push({ organizationId: who.organizationId, open: gate.resolve });
      await gate.promise;
    });
  }

  runningOf(id: number): number {
    return this.#running.filter(({ organizationId }) => organizationId === id).length;
  }

  /** Lets one go and waits until its place is taken. */
  async openOne(id: number): Promise<void> {
    const [task] = this.#running.splice(
      this.#running.findIndex(({ organizationId }) => organizationId === id),
      1,
    );
    task?.open();
    await Bun.sleep(0);
  }

  openAll(): void {
    this.#isOpen = true;
    for (const { open } of this.#running.splice(0)) open();
  }
}
