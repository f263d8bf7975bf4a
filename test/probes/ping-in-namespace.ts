/** Opens a socket for echo requests to this machine, sends one, and prints of which kind it is and what came back. */
import { ECHO_TOKEN_BYTES, ECHO_V4, encodeEcho, isEchoReply } from "../../src/probes/ping/icmp-packet.ts";
import { openIcmpSocket } from "../../src/probes/ping/icmp-socket.ts";
import { eventually } from "../harness/eventually.ts";

const socket = openIcmpSocket("127.0.0.1");
if (socket === null) throw new Error("no socket");
const token = crypto.getRandomValues(new Uint8Array(ECHO_TOKEN_BYTES));
const isSent = socket.send(encodeEcho(ECHO_V4, 1, 1, token));
const isAnswered = await eventually("a reply", () => {
  const found = socket.receive();
  return found !== null && isEchoReply(ECHO_V4, found.packet, token);
});
/** The kernel lists sockets of each kind in a table of its own, below a line of names. */
const countOf = async (table: string): Promise<number> =>
  (await Bun.file(`/proc/self/net/${table}`).text()).trim().split("\n").length - 1;
process.stdout.write(
  JSON.stringify({ datagram: await countOf("icmp"), raw: await countOf("raw"), isSent, isAnswered }),
);
