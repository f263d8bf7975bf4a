import { AUDIT_LOG_PRESETS } from "./audit-logs.ts";
import { CLOUD_PRESETS } from "./cloud.ts";
import { CONTAINER_PRESETS } from "./containers.ts";
import { ENCODER_PRESETS } from "./encoders.ts";
import { FIREWALL_PRESETS } from "./firewalls.ts";
import { IDENTITY_PRESETS } from "./identity.ts";
import { LINUX_PRESETS } from "./linux.ts";
import { LOGGER_PRESETS } from "./loggers.ts";
import { MAIL_PRESETS } from "./mail.ts";
import { NETWORK_PRESETS } from "./network.ts";
import type { Preset } from "./preset.ts";
import { WEB_ACCESS_PRESETS } from "./web-access.ts";
import { WEBHOOK_PRESETS } from "./webhooks.ts";
import { WINDOWS_PRESETS } from "./windows.ts";

/** All presets, those of a family together. Names never change: sources are stored with them. */
export const PRESETS: readonly Preset[] = [
  ...WEB_ACCESS_PRESETS,
  ...CONTAINER_PRESETS,
  ...CLOUD_PRESETS,
  ...IDENTITY_PRESETS,
  ...AUDIT_LOG_PRESETS,
  ...MAIL_PRESETS,
  ...WEBHOOK_PRESETS,
  ...FIREWALL_PRESETS,
  ...NETWORK_PRESETS,
  ...LINUX_PRESETS,
  ...WINDOWS_PRESETS,
  ...LOGGER_PRESETS,
  ...ENCODER_PRESETS,
];

const BY_NAME: ReadonlyMap<string, Preset> = new Map(PRESETS.map((preset) => [preset.name, preset]));

/** The preset of a name, null when there is none. */
export function presetOf(name: string): Preset | null {
  return BY_NAME.get(name) ?? null;
}
