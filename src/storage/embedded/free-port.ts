import { createServer } from "node:net";
import { FREE_PORT_ATTEMPTS } from "../limits.ts";

/**
 * The range lies below every system's ephemeral ports. A port inside it could be taken by any outgoing
 * connection while an engine restarts, and a client that retries a closed one can even connect to itself.
 */
const FIRST_PORT = 20_000;
const PORT_COUNT = 10_000;

/** Whether nobody listens on this loopback port. */
export function canListen(port: number): Promise<boolean> {
  return new Promise((settle) => {
    const server = createServer();
    server.once("error", () => settle(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => settle(true)));
  });
}

/** A loopback port that nothing listens on at this moment and that no outgoing connection will take. */
export async function findFreePort(random: () => number = Math.random): Promise<number> {
  for (let attempt = 0; attempt < FREE_PORT_ATTEMPTS; attempt++) {
    const port = FIRST_PORT + Math.floor(random() * PORT_COUNT);
    if (await canListen(port)) return port;
  }
  throw new Error(`No free loopback port between ${FIRST_PORT} and ${FIRST_PORT + PORT_COUNT - 1}.`);
}
