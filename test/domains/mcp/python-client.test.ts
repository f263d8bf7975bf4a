/**
 * The Model Context Protocol at /mcp, spoken by the official SDK for Python to the real server. Passed over where there is no Python that
 * has its package `mcp` 2; `MCP_PYTHON` names one that has, such as that of a virtual environment.
 */
import { beforeAll, expect, test } from "bun:test";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { eventually } from "../../harness/eventually.ts";
import { ingestEntries, makeToken } from "../../harness/server-process.ts";
import { type SharedServer, sharedServer } from "../../harness/suite-server.ts";

const PYTHON = Bun.env.MCP_PYTHON ?? "python3";
const hasSdk =
  Bun.which(PYTHON) !== null &&
  Bun.spawnSync([PYTHON, "-c", "from mcp.client.streamable_http import streamable_http_client"]).exitCode ===
    0;

const CLIENT = `
import asyncio, json, sys
from mcp import ClientSession
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

async def main(url, token):
    async with (
        create_mcp_http_client(headers={"Authorization": f"Bearer {token}"}) as http,
        streamable_http_client(url, http_client=http) as streams,
        ClientSession(streams[0], streams[1]) as session,
    ):
        await session.initialize()
        answers = {
            "tools": await session.list_tools(),
            "called": await session.call_tool("getLogsSearch", {"service": "shop"}),
            "refused": await session.call_tool("getLogsSearch", {"limit": -1}),
            "resource": await session.read_resource("obs://kql"),
            "prompt": await session.get_prompt("write_kql", {"question": "How many errors?"}),
        }
        print(json.dumps({name: answer.model_dump(mode="json", by_alias=True) for name, answer in answers.items()}))

asyncio.run(main(sys.argv[1], sys.argv[2]))
`;

const Result = Type.Object({
  isError: Type.Boolean(),
  structuredContent: Type.Record(Type.String(), Type.Unknown()),
});
const Answers = Type.Object({
  tools: Type.Object({ tools: Type.Array(Type.Object({ name: Type.String() })) }),
  called: Result,
  refused: Result,
  resource: Type.Object({ contents: Type.Array(Type.Object({ text: Type.String() })) }),
  prompt: Type.Object({
    messages: Type.Array(Type.Object({ content: Type.Object({ text: Type.String() }) })),
  }),
});

let server: SharedServer;
let token: string;
beforeAll(async () => {
  if (!hasSdk) return;
  server = await sharedServer();
  token = await makeToken(server.url);
  const headers = { authorization: `Bearer ${token}` };
  await ingestEntries(server.url, token, { message: "paid", service: "shop" });
  await eventually("the entry is found", async () => {
    const found = await fetch(`${server.url}/api/v1/logs/search?service=shop`, { headers });
    return (await found.text()).includes("paid") || null;
  });
});

test.skipIf(!hasSdk)(
  "a client in Python lists tools, calls them, reads resources and takes prompts",
  async () => {
    const child = Bun.spawn([PYTHON, "-c", CLIENT, `${server.url}/mcp`, token], {
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, error] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect([await child.exited, error.includes("Traceback") ? error : ""]).toEqual([0, ""]);
    const { tools, called, refused, resource, prompt } = Value.Parse(Answers, JSON.parse(out));
    expect(tools.tools.map(({ name }) => name)).toContain("getLogsSearch");
    expect(called).toMatchObject({
      isError: false,
      structuredContent: { status: 200, result: { total: 1 } },
    });
    expect(refused).toMatchObject({ isError: true, structuredContent: { code: "VALIDATION_FAILED" } });
    expect(resource.contents[0]?.text).toContain("summarize");
    expect(prompt.messages[0]?.content.text).toContain("How many errors?");
  },
);
