import { type Command, Option } from "commander";
import type { CliContext } from "../context.ts";
import { type Colors, makeColors, wantsColor } from "../terminal/colors.ts";

export interface ColorFlags {
  /** False for --no-color. */
  color: "auto" | "always" | "never" | false;
}

export function addColorOption(command: Command): Command {
  return command
    .addOption(
      new Option("--color <when>", "colours: auto, on a terminal unless NO_COLOR is set; always; never")
        .choices(["auto", "always", "never"])
        .default("auto"),
    )
    .option("--no-color", "the same as --color never");
}

/** The colours of standard output. What the option says wins over the environment. */
export function colorsOf({ color }: ColorFlags, { env, stdout }: Pick<CliContext, "env" | "stdout">): Colors {
  if (color === "always") return makeColors(true);
  return makeColors(color === "auto" && wantsColor(env, stdout.isTerminal));
}
