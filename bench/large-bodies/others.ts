/**
 * Somebody else beside large bodies, a process of its own: asks who they are, again and again, until its input ends, and prints
 * how long each answer took, milliseconds, as one JSON array. Arguments: url, token.
 */
const [url = "", token = ""] = process.argv.slice(2);
const EVERY_MS = 10;

const tookMs: number[] = [];
let ended = false;
const input = Bun.stdin.stream().getReader();
void input.read().then(() => {
  ended = true;
});
while (!ended) {
  const startedAt = performance.now();
  const response = await fetch(`${url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`/me answered ${response.status}`);
  tookMs.push(performance.now() - startedAt);
  await Bun.sleep(EVERY_MS);
}
process.stdout.write(`${JSON.stringify(tookMs)}\n`);

export {};
