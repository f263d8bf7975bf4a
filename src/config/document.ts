import type { Setting } from "./setting.ts";
import { SETTINGS } from "./settings.ts";

function row(setting: Setting<unknown>): string {
  const standard = setting.defaultText ?? (setting.default === undefined ? "none" : `\`${setting.default}\``);
  const cells = [`\`${setting.name}\``, standard, setting.type.accepts, setting.meaning];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** The text of `docs/configuration.md`, made from the table of settings. */
export function renderConfigurationDocument(): string {
  const rows = Object.values(SETTINGS).map((setting: Setting<unknown>) => row(setting));
  return `<!-- Made by \`bun src/config/document.ts > docs/configuration.md\` from src/config/settings.ts; a test compares the two. -->
# Configuration

The server reads these environment variables once, at its start. An empty variable counts as unset. A value that is not
accepted stops the start with one line that says why, and so does a variable that begins with \`OBS_\` and is not here.

| variable | default | accepted | meaning |
|---|---|---|---|
${rows.join("\n")}

The command line reads \`OBS_URL\` and \`OBS_TOKEN\`; the server ignores them.
`;
}

if (import.meta.main) process.stdout.write(renderConfigurationDocument());
