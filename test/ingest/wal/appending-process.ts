import { openWal } from "../../../ingest/wal/wal.ts";
import { appendOf } from "./fixture.ts";

/*
 * A process that appends as fast as it can and prints every acknowledged id, for `kill.test.ts` to kill.
 * Arguments: the directory and the first id.
 */
const [, , directory = "", first = "0"] = process.argv;
const wal = await openWal({
  directory,
  maxBytes: 1024 * 1024 * 1024,
  segmentBytes: 1024 * 1024,
  keyRetentionMs: 600_000,
  clock: Date.now,
  onFatal: (error) => {
    throw error;
  },
});
let next = Number(first);
const out = Bun.stdout.writer();

async function appendForEver(): Promise<never> {
  for (;;) {
    const id = next++;
    const { start } = await wal.append(appendOf(id, (id * 7919) % 60_000, 1, Date.now()));
    out.write(`${id} ${start}\n`);
    await out.flush();
  }
}

await Promise.all(Array.from({ length: 8 }, appendForEver));
