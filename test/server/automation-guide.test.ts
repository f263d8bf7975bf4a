/** docs/automation.md, followed word by word by a shell against a server. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { followGuide } from "../harness/guide.ts";
import { makeToken } from "../harness/server-process.ts";
import { startSuiteServer } from "../harness/suite-server.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

const ROOT = join(import.meta.dir, "../..");

test("the guide to automation lists tools, installs the command line, speaks the protocol both ways and writes the typed client", async () => {
  using home = temporaryDirectory({ holdsPrograms: true });
  const clone = join(home.path, "clone");
  mkdirSync(clone);
  const server = await startSuiteServer();
  const token = await makeToken(server.url);
  const guide = await followGuide("automation.md", { url: server.url, token, directory: clone });
  try {
    const [setUp = "", tools = "", install = "", protocol = "", client = "", ...others] = guide.steps;
    expect(others).toEqual([]);
    // What names the server and the token comes before everything that needs it; the shell has its own.
    expect(setUp.trim()).toBe("");
    // What is installed stays in a home of its own.
    await guide.run(`${setUp}\nexport HOME=${home.path}`);
    const [formats = "", core = "", all = ""] = (await guide.run(tools))
      .replaceAll('}][{"', '}]\n[{"')
      .split("\n");
    expect(JSON.parse(formats).map(({ format }: { format: string }) => format)).toEqual([
      ...["openai-chat", "openai-responses", "anthropic", "gemini", "mcp"],
    ]);
    expect(JSON.parse(core)[0]).toMatchObject({ name: expect.any(String), input_schema: { type: "object" } });
    expect(JSON.parse(all).length).toBeGreaterThan(JSON.parse(core).length);
    await guide.run(install);
    const obs = join(home.path, ".local/bin/obs");
    expect(await guide.run(`${obs} --version`)).toMatch(/^\d+\.\d+\.\d+\n$/);
    const answers = (await guide.run(protocol))
      .split(/\n?(?=\{"(?:jsonrpc|result)")/)
      .map((text) => JSON.parse(text));
    expect(answers).toMatchObject([
      { id: 1, result: { tools: expect.any(Array) } },
      { id: 2, result: { structuredContent: { operation: "getMonitors", status: 200, result: [] } } },
      { id: 3, result: { tools: expect.any(Array) } },
    ]);
    await guide.run(client.replace("clients/publish", join(ROOT, "clients/publish")));
    expect(existsSync(join(home.path, "obs-client/package.json"))).toBe(true);
  } finally {
    await guide.close();
    await server.stop();
  }
});
