import { isAbsolute, join } from "node:path";
import type { CliContext } from "../context.ts";

type Surroundings = Pick<CliContext, "env" | "homeDirectory">;

/** Where the user's settings live: `obs` under XDG_CONFIG_HOME, else under ~/.config (XDG Base Directory 0.8). */
export function configDirectory(context: Surroundings): string {
  return baseDirectory(context, "XDG_CONFIG_HOME", ".config");
}

/** Where state lives that outlasts a run but is not worth a backup: XDG_STATE_HOME, else ~/.local/state. */
export function stateDirectory(context: Surroundings): string {
  return baseDirectory(context, "XDG_STATE_HOME", ".local/state");
}

function baseDirectory({ env, homeDirectory }: Surroundings, variable: string, fallback: string): string {
  const named = env[variable];
  // The specification: a relative path is invalid and ignored.
  const base = named !== undefined && isAbsolute(named) ? named : join(homeDirectory, fallback);
  return join(base, "obs");
}
