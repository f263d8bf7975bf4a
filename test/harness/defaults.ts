/**
 * What every test file starts from, however tests are started.
 *
 * How long a test or hook may take that says nothing else, however tests are started: a bound on what hangs, not on what
 * is slow, so a machine may be ten times slower than ours. bunfig.toml knows no such setting, and `setDefaultTimeout`
 * holds for one file: therefore every test file is given the call, in front of its first line.
 */
import { join } from "node:path";
import { plugin } from "bun";
import fc from "fast-check";
import { TEST_TIMEOUT_FACTOR } from "./patience.ts";

const TIMEOUT_MS = Bun.env.OBS_PROOF === "1" ? 7_200_000 : 600_000;
const PATIENCE = join(import.meta.dir, "../../src/concurrency/patience.ts");
const CALL = [
  `import { setDefaultTimeout as setTimeoutOfFile } from "bun:test"; setTimeoutOfFile(${TIMEOUT_MS});`,
  // Whatever a file before it in the same process has set.
  `import { setPatience as setPatienceOfFile } from "${PATIENCE}"; setPatienceOfFile(${TEST_TIMEOUT_FACTOR});`,
].join(" ");

plugin({
  name: "defaults of tests",
  setup(build) {
    build.onLoad({ filter: /\.test\.ts$/ }, async ({ path }) => ({
      contents: `${CALL} ${await Bun.file(path).text()}`,
      loader: "ts",
    }));
  },
});

/**
 * Every run tries the same cases, so that a failure is one of the change that was made; the proofs, and whoever asks for it
 * with `OBS_SEED=random`, try others. `OBS_SEED` takes the seed that a failure prints, too.
 */
const FIXED_SEED = 20_260_101;
const seed = Bun.env.OBS_SEED ?? (Bun.env.OBS_PROOF === "1" ? "random" : String(FIXED_SEED));
if (seed !== "random") fc.configureGlobal({ seed: Number(seed) });
