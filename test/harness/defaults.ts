/**
 * What every test file starts from, however tests are started.
 *
 * How long a test or hook may take that says nothing else, however tests are started: a bound on what hangs, not on what
 * is slow, so a machine may be ten times slower than ours. bunfig.toml knows no such setting, and `setDefaultTimeout`
 * holds for one file: therefore every test file is given the call, in front of its first line.
 */
import { plugin } from "bun";
import fc from "fast-check";

const TIMEOUT_MS = Bun.env.OBS_PROOF === "1" ? 7_200_000 : 180_000;
const CALL = `import { setDefaultTimeout as setTimeoutOfFile } from "bun:test"; setTimeoutOfFile(${TIMEOUT_MS});`;

plugin({
  name: "default timeout of tests",
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
