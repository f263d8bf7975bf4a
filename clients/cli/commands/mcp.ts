import type { Command } from "commander";
import { resolveConnection } from "../config/connection.ts";
import type { CliContext } from "../context.ts";
import { Bridge } from "../mcp/bridge.ts";
import type { GlobalOptions } from "./global-options.ts";

interface McpFlags {
  readonly write?: boolean;
}

/** `obs mcp` */
export function addMcpCommand(program: Command, context: CliContext): void {
  program
    .command("mcp")
    .description("speak the Model Context Protocol over standard input and output, for clients of models")
    .option("--write", "offer operations that change something, too")
    .addHelpText(
      "after",
      `
A client starts it by itself: name "obs" as the command and "mcp" as its argument. What the model may do is what the token may.
Without --write nothing is offered that changes anything. Clients that speak HTTP need no bridge: POST /mcp with the token.`,
    )
    .action(async (flags: McpFlags, self: Command) => {
      await mcp(context, flags, self.optsWithGlobals<GlobalOptions>());
    });
}

async function mcp(context: CliContext, flags: McpFlags, globals: GlobalOptions): Promise<void> {
  const connection = await resolveConnection(context, globals.url);
  if (context.stdinIsTerminal)
    await context.stderr.write("obs: waiting for messages of a client; Ctrl-D ends\n");
  await new Bridge({
    ...connection,
    mayWrite: flags.write === true,
    fetch: context.fetch,
    input: Bun.stdin.stream(),
    write: (text) => context.stdout.write(text),
  }).run();
}
