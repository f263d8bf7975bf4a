/** docs/investigation.md, followed word by word by a shell against a server: from the first detection to a closed case. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { eventually } from "../harness/eventually.ts";
import { makeToken } from "../harness/server-process.ts";
import { startSuiteServer } from "../harness/suite-server.ts";

const ROOT = join(import.meta.dir, "../..");

test("the guide leads from a detection to a closed case", async () => {
  const server = await startSuiteServer();
  try {
    const token = await makeToken(server.url);
    const page = await Bun.file(join(ROOT, "docs/investigation.md")).text();
    const [first = "", ...blocks] = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
    // The first block makes a token by asking for a password.
    const begin = first.split("\n").filter((line) => !line.startsWith("export"));
    const environment = { ...process.env, OBS: server.url, OBS_URL: server.url, OBS_TOKEN: token };
    const run = async (lines: readonly string[]): Promise<string> => {
      const script = [...begin, ...lines].join("\n").replaceAll("bunx obs", "bun clients/cli/main.ts");
      const shell = Bun.spawn(["bash", "-c", script], {
        ...{ cwd: ROOT, env: environment, stdout: "pipe", stderr: "inherit" },
      });
      return await new Response(shell.stdout).text();
    };
    const ask = async (path: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`${server.url}/api/v1${path}`, { headers });
      return JSON.parse(await answer.text());
    };
    const [seeds = "", entries = "", recording = "", ...steps] = blocks;
    const before = await run([seeds, entries, recording]);
    expect(before).not.toContain('"error":');
    await eventually("the recording is one of today, and its rule tells", async () => {
      const { items } = await ask("/incidents?status=open");
      return items.some(({ title }: { title: string }) => title.endsWith("(pc-9)"));
    });
    await eventually("the incident of the correlation is open", async () => {
      const { items } = await ask("/incidents?status=open");
      return items.some(({ title }: { title: string }) => title.startsWith("A service for remote commands"));
    });
    const said = await run(steps.map((step) => step.replace("> case.md", "").replace("sleep 15", "sleep 2")));
    expect(said.match(/"code":"[A-Z_]+"/g)).toBeNull();
    for (const part of ["reg save HKLM", "evil.example", "# Case 1: Secrets of pc"])
      expect(said.includes(part), part).toBe(true);
    const closed = await ask("/cases/1");
    expect(closed).toMatchObject({ status: "closed", disposition: "true_positive" });
    expect(closed.evidence.map(({ kind }: { kind: string }) => kind).toSorted()).toEqual([
      ...["incident", "log", "log"],
    ]);
    expect(closed.observables).toContainEqual({ type: "domain", value: "files.evil.example" });
    expect((await ask(`/incidents/${closed.incidentIds[0]}`)).status).toBe("resolved");
    await eventually("the domain was found in what was there before", async () => {
      const { items } = await ask("/iocs?value=evil.example");
      return items[0].hits === 1;
    });
  } finally {
    await server.stop();
  }
});
