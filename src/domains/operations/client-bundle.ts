import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ApiError } from "../../errors.ts";

/** The command line as one file, which Bun runs. */
interface ClientBundle {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** In hexadecimal digits. */
  readonly sha256: string;
}

const BUILD_TIMEOUT_MS = 60_000;

let made: Promise<ClientBundle> | undefined;

/** Made at the first call, in a process of its own: bundling takes more memory than the server itself. Throws UNAVAILABLE. */
export function clientBundle(): Promise<ClientBundle> {
  if (made === undefined) {
    const building = build();
    building.catch(() => {
      made = undefined;
    });
    made = building;
  }
  return made;
}

async function build(): Promise<ClientBundle> {
  const entry = fileURLToPath(new URL("../../../clients/cli/main.ts", import.meta.url));
  const directory = await mkdtemp(join(tmpdir(), "obs-bundle-"));
  try {
    const file = join(directory, "obs.js");
    const child = Bun.spawn(
      [process.execPath, "build", entry, "--target=bun", "--minify", `--outfile=${file}`],
      {
        ...{ stdin: "ignore", stdout: "ignore", stderr: "ignore" },
        timeout: BUILD_TIMEOUT_MS,
      },
    );
    if ((await child.exited) !== 0)
      throw new ApiError("UNAVAILABLE", "The command line could not be put together.");
    const bytes = await Bun.file(file).bytes();
    return { bytes, sha256: new Bun.CryptoHasher("sha256").update(bytes).digest("hex") };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
