/** Each command is the same whether it is read alone, as for a call of it, or with all the others, as for the help. */
import { expect, test } from "bun:test";
import { Command } from "commander";
import { addCommands } from "../../../clients/cli/command-families.ts";
import { processContext } from "../../../clients/cli/context.ts";

const context = processContext();

async function programFor(args: readonly string[]): Promise<Command> {
  const program = new Command("obs");
  await addCommands(program, context, args);
  return program;
}

/** The help of a command and of those below it. */
function helpOf(command: Command): string[] {
  return [command.helpInformation(), ...command.commands.flatMap(helpOf)];
}

test("what a call reads of the command line is what it calls, whole", async () => {
  const all = await programFor(["help"]);
  expect(all.commands.length).toBeGreaterThan(20);
  for (const command of all.commands) {
    const alone = (await programFor([command.name(), "--help"])).commands;
    const same = alone.filter((each) => each.name() === command.name());
    expect([command.name(), same.map(helpOf)]).toEqual([command.name(), [helpOf(command)]]);
  }
});

test.each([[[]], [["--json", "monitors"]], [["nonsense"]], [["completion", "bash"]]])(
  "%p reads every command",
  async (args) => {
    const names = (program: Command) => program.commands.map((command) => command.name());
    expect(names(await programFor(args))).toEqual(names(await programFor(["help"])));
  },
);

test("a call reads nothing of the other commands", async () => {
  const alone = await programFor(["search"]);
  expect(alone.commands.map((command) => command.name())).toEqual(["search"]);
});
