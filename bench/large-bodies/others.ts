/**
 * Somebody else beside the load, a process of its own: asks who they are, or for another path, again and again, until its input ends, and
 * prints how long each answer took, milliseconds, as one JSON array. Arguments: url, token, path.
 */
const [url = "", token = "", path = "/api/v1/me"] = process.argv.slice(2);
const EVERY_MS = 10;

const tookMs: number[] = [];
let ended = false;
const input = Bun.stdin.stream().getReader();
void input.read().then(() => {
  ended = true;
});
while (!ended) {
  const startedAt = performance.now();
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
  tookMs.push(performance.now() - startedAt);
  await Bun.sleep(EVERY_MS);
}
process.stdout.write(`${JSON.stringify(tookMs)}\n`);

export {};
