/**
 * Whoever loads the server, a process of its own: asks a query on so many connections, again and again, until its input
 * ends, and prints how many answers there were by status and how many bytes they had. Arguments: url, token, connections, KQL.
 */
const [url = "", token = "", connections = "1", query = ""] = process.argv.slice(2);
/** Who was refused comes again after a while, not at once. */
const REFUSED_WAIT_MS = 100;

const statuses: Record<string, number> = {};
let bytes = 0;
let ended = false;
const input = Bun.stdin.stream().getReader();
void input.read().then(() => {
  ended = true;
});
await Promise.all(
  Array.from({ length: Number(connections) }, async () => {
    while (!ended) {
      const response = await fetch(`${url}/api/v1/logs/query`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ query }),
      });
      bytes += (await response.arrayBuffer()).byteLength;
      statuses[response.status] = (statuses[response.status] ?? 0) + 1;
      if (!response.ok) await Bun.sleep(REFUSED_WAIT_MS);
    }
  }),
);
process.stdout.write(`${JSON.stringify({ statuses, bytes })}\n`);

export {};
