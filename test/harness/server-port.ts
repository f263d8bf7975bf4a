import { canListen } from "../../src/storage/embedded/free-port.ts";

/**
 * Below the ports of embedded engines, which are drawn at random: one of them may start between the choice of a port and its
 * use, or while a server that was killed is away from its port.
 */
const FIRST_PORT = 10_000;
/** Of each test process, so that those beside it choose others. */
const PORTS_PER_PROCESS = 1_000;
const PROCESSES = 10;

const slice = (Number(Bun.env.BUN_TEST_WORKER_ID ?? 0) % PROCESSES) * PORTS_PER_PROCESS;
/** Whole runs beside this one begin elsewhere. */
let next = Math.floor(Math.random() * PORTS_PER_PROCESS);

/** A loopback port for a server of a test, on which nobody listens and which no other test has been given lately. */
export async function serverPort(): Promise<number> {
  for (let attempt = 0; attempt < PORTS_PER_PROCESS; attempt += 1) {
    next = (next + 1) % PORTS_PER_PROCESS;
    const port = FIRST_PORT + slice + next;
    if (await canListen(port)) return port;
  }
  throw new Error("every port for servers of tests is taken");
}
