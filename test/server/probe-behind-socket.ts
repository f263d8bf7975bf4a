/**
 * In a network of its own, whose only way out is a socket file: hands on what comes to a port of this network's loopback, prints
 * the port, and ends with its standard input. Arguments: the file.
 */
import { connect, createServer } from "node:net";

const [file = ""] = process.argv.slice(2);
const server = createServer((incoming) => {
  const outgoing = connect(file);
  for (const [from, to] of [
    [incoming, outgoing],
    [outgoing, incoming],
  ] as const) {
    from.on("error", () => to.destroy());
    from.on("close", () => to.destroy());
    from.pipe(to);
  }
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the way out has no port");
  process.stdout.write(`${address.port}\n`);
});
for await (const _ of console) {
}
process.exit(0);
