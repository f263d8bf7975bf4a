import { describe, expect, test } from "bun:test";
import { DependencyError } from "../../src/errors.ts";
import { Admission } from "../../src/storage/admission.ts";

const never = new AbortController().signal;

describe("admission", () => {
  test("lets so many run at a time, in the order they came", async () => {
    const admission = new Admission({ maxRunning: 2, maxWaiting: 10 });
    const order: number[] = [];
    let running = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        admission.run(never, async () => {
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
    const admission = new Admission({ maxRunning: 1, maxWaiting: 1 });
    const gate = Promise.withResolvers<void>();
    const first = admission.run(never, () => gate.promise);
    const second = admission.run(never, async () => "second");
    await expect(admission.run(never, async () => "third")).rejects.toBeInstanceOf(DependencyError);
    gate.resolve();
    await first;
    expect(await second).toBe("second");
    expect(await admission.run(never, async () => "fourth")).toBe("fourth");
  });

  test("forgets who leaves while waiting, and goes on after a task that failed", async () => {
    const admission = new Admission({ maxRunning: 1, maxWaiting: 2 });
    const gate = Promise.withResolvers<void>();
    const failing = admission.run(never, () => gate.promise);
    const controller = new AbortController();
    let ran = false;
    const leaving = admission.run(controller.signal, async () => {
      ran = true;
    });
    const staying = admission.run(never, async () => "stayed");
    controller.abort();
    await expect(leaving).rejects.toBeInstanceOf(DependencyError);
    await expect(admission.run(controller.signal, async () => undefined)).rejects.toBeInstanceOf(
      DependencyError,
    );
    gate.reject(new Error("failed"));
    await expect(failing).rejects.toThrow("failed");
    expect(await staying).toBe("stayed");
    expect(ran).toBe(false);
  });
});
