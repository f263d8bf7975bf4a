import { Argument, type Command, type Option } from "commander";
import { type CompletedCommand, completionScript, SHELLS, type Shell } from "../completion/scripts.ts";
import type { CliContext } from "../context.ts";

/** `obs completion bash|zsh|fish` */
export function addCompletionCommand(program: Command, context: CliContext): void {
  program
    .command("completion")
    .description("print what makes a shell complete obs: bash, zsh or fish")
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .addHelpText(
      "after",
      `
  bash: obs completion bash > ~/.local/share/bash-completion/completions/obs
  zsh:  obs completion zsh > a folder of $fpath, as _obs
  fish: obs completion fish > ~/.config/fish/completions/obs.fish`,
    )
    .action(async (shell: Shell) => {
      await context.stdout.write(completionScript(shell, commandsOf(program, [])));
    });
}

/** The command and those below it, each with what may stand behind it. */
function commandsOf(command: Command, above: readonly string[]): CompletedCommand[] {
  const path = command.parent === null ? [] : [...above, command.name()];
  const options = command.options.flatMap(({ long, argChoices }: Option) =>
    long === undefined || long === null ? [] : [{ name: long, choices: argChoices ?? [] }],
  );
  const names = command.commands.map((below) => below.name());
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  const takesFiles = command.registeredArguments.some((argument) => argument.name() === "files");
  const own = { path, words: [...names, ...choices], options, takesFiles };
  return [own, ...command.commands.flatMap((below) => commandsOf(below, path))];
}
