import { largeRequest, openLarge } from "./large-bodies.ts";

/*
 * A process that stores large requests as fast as it can and prints the number of each one that is acknowledged, for
 * `large-requests.test.ts` to kill. Nothing leaves its log. Arguments: the directory, the first number, entries of a request.
 */
const [, , directory = "", first = "0", count = "0"] = process.argv;
const ingest = await openLarge(directory, {
  store: { insert: () => new Promise(() => undefined), find: () => new Promise(() => undefined) },
});
let next = Number(first);

async function storeForEver(): Promise<never> {
  for (;;) {
    const request = next++;
    const entries = Array.from({ length: Number(count) }, (_, i) => ({
      message: `${request}/${i}`,
      event_id: `${request}/${i}`,
    }));
    process.stdout.write(`begun ${request}\n`);
    await ingest.ingest(largeRequest(entries, `request ${request}`));
    process.stdout.write(`acknowledged ${request}\n`);
  }
}

await Promise.all(Array.from({ length: 3 }, storeForEver));
