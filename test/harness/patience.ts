import { afterAll, beforeAll } from "bun:test";
import { setPatience } from "../../src/concurrency/patience.ts";

/**
 * How many times longer than usual the code under test waits for its stores, and servers that tests start: a machine that is slow, or
 * has much else to do, is no outage. What then still comes too late is stuck.
 */
export const TEST_TIMEOUT_FACTOR = 6;

/** For a suite about what happens when something does not answer: waits are as long as they usually are. */
export function waitAsUsual(): void {
  beforeAll(() => setPatience(1));
  afterAll(() => setPatience(TEST_TIMEOUT_FACTOR));
}
