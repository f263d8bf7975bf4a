import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

/** A page of docs/ and a shell that follows it, as a newcomer would. */
interface Guide {
  /** What its blocks for a shell say, each parted where it waits: whoever follows waits there for what it waits for. */
  readonly steps: readonly string[];
  /** Runs a step and answers what it printed. */
  run(step: string): Promise<string>;
  close(): Promise<void>;
}

/** `directory`: where the shell is. What names the server and its token is given; anything else is run as it is written. */
export async function followGuide(
  page: string,
  { url, token, directory }: { readonly url: string; readonly token: string; readonly directory: string },
): Promise<Guide> {
  const text = await Bun.file(join(ROOT, "docs", page)).text();
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = ""]) => block);
  const program = `bun ${join(ROOT, "clients/cli/main.ts")}`;
  const steps = blocks
    .flatMap((block) => block.split(/^sleep \d+\n/m))
    .map((step) => step.replace(/^export OBS\w*=.*$/gm, "").replaceAll("bunx obs", program));
  const shell = Bun.spawn(["bash"], {
    cwd: directory,
    env: { ...process.env, OBS: url, OBS_URL: url, OBS_TOKEN: token },
    ...{ stdin: "pipe", stdout: "pipe", stderr: "inherit" },
  });
  const reader = shell.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let printed = "";
  let ran = 0;
  return {
    steps,
    run: async (step) => {
      const end = `the end of step ${++ran}\n`;
      shell.stdin.write(`${step}\necho 'the end of step' ${ran}\n`);
      await shell.stdin.flush();
      while (!printed.endsWith(end)) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`the shell has ended: ${printed}`);
        printed += value;
      }
      const said = printed.slice(0, -end.length);
      printed = "";
      return said;
    },
    close: async () => {
      await shell.stdin.end();
      await shell.exited;
    },
  };
}
