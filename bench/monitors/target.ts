/**
 * The target of the monitor benchmark, a process of its own: answers every request at once, and counts. Prints its port, then
 * answers every line on standard input with the number of requests since the last one.
 */
export {};

let requests = 0;
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => {
    requests += 1;
    return new Response("welcome");
  },
});
process.stdout.write(`${server.port}\n`);
for await (const _ of console) {
  process.stdout.write(`${requests}\n`);
  requests = 0;
}
// Whoever started it has ended it, or died.
await server.stop(true);
