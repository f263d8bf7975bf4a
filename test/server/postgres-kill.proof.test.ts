/** The embedded Postgres killed again and again under a server that writes changes: the server lives, and so do they. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isProcessAlive } from "../../src/storage/embedded/process-identity.ts";
import { eventually } from "../harness/eventually.ts";
import { proofRounds } from "../harness/proof.ts";
import { isReady, makeToken, startServer } from "../harness/server-process.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

const KILLS = proofRounds({ sample: 2, whole: 30 });
const WRITERS = 6;
/** Changes acknowledged between two kills, so that each kill meets connections at work. */
const CHANGES_PER_KILL = 20;

test(
  "kill -9 of the postmaster while changes are written ends neither the server nor a change it acknowledged",
  async () => {
    using directory = temporaryDirectory();
    const server = await startServer({ dataDirectory: directory.path });
    const token = await makeToken(server.url);
    const writers = await Promise.all(Array.from({ length: WRITERS }, () => createWriter(server.url, token)));
    const acknowledged = () => writers.reduce((total, writer) => total + writer.acknowledged, 0);
    const writing = writers.map((writer) => writer.run());
    for (let kill = 0, killed = 0; kill < KILLS; kill += 1) {
      // The backends of a dead one go on for a moment.
      const postmaster = await eventually("Postgres is back", () => newPostmaster(directory.path, killed));
      const enough = acknowledged() + CHANGES_PER_KILL;
      await eventually("changes are written", () => acknowledged() >= enough);
      process.kill(postmaster, "SIGKILL");
      killed = postmaster;
    }
    await eventually("the server is ready again", () => isReady(server.url));
    for (const writer of writers) writer.stop();
    await Promise.all(writing);
    for (const writer of writers)
      expect(await writer.keptCount()).toBeGreaterThanOrEqual(writer.acknowledged);
    expect(await server.stop()).toBe(0);
  },
  { timeout: 3_600_000 },
);

/** The process of Postgres, when it is not the one that was killed last. */
function newPostmaster(dataDirectory: string, killed: number): number | null {
  const path = join(dataDirectory, "postgres", "cluster", "postmaster.pid");
  const pid = existsSync(path) ? Number.parseInt(readFileSync(path, "utf8"), 10) : killed;
  return pid === killed || !isProcessAlive(pid) ? null : pid;
}

/** Counts in the name of a saved search of its own, one change after another, for as long as the server answers. */
async function createWriter(url: string, token: string) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const key = crypto.randomUUID();
  const send = (method: string, path: string, count: number) =>
    fetch(`${url}${path}`, { method, headers, body: JSON.stringify({ name: `${key} ${count}` }) });
  const created: { id: number } = JSON.parse(await (await send("POST", "/api/v1/saved-searches", 0)).text());
  const path = `/api/v1/saved-searches/${created.id}`;
  const writer = {
    acknowledged: 0,
    isStopping: false,
    stop: () => {
      writer.isStopping = true;
    },
    run: async () => {
      for (let count = 1; !writer.isStopping; count += 1) {
        const { status } = await send("PATCH", path, count);
        // An outage may refuse a change.
        if (status !== 503) expect(status).toBe(200);
        if (status === 200) writer.acknowledged = count;
      }
    },
    /** What the name has come to: no less than what was acknowledged last. */
    keptCount: async () => {
      // The store may be away for a moment more.
      const answer = await eventually("the searches can be read", async () => {
        const response = await fetch(`${url}/api/v1/saved-searches`, { headers });
        return response.ok ? response.text() : null;
      });
      const list: { id: number; name: string }[] = JSON.parse(answer);
      return Number(list.find(({ id }) => id === created.id)?.name.split(" ")[1]);
    },
  };
  return writer;
}
