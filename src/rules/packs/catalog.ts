import { AGENTS, APPLICATION } from "./applications.ts";
import { CLOUD_AWS, CLOUD_AZURE, CLOUD_GCP } from "./cloud.ts";
import { LINUX_AUTH, LINUX_PERSISTENCE } from "./linux.ts";
import type { Pack } from "./pack.ts";
import { FIREWALL, IDENTITY, KUBERNETES } from "./platform.ts";
import { WEB } from "./web.ts";

/** The packs that come with the server. */
export const PACKS: readonly Pack[] = [
  LINUX_AUTH,
  LINUX_PERSISTENCE,
  WEB,
  CLOUD_AWS,
  CLOUD_AZURE,
  CLOUD_GCP,
  IDENTITY,
  KUBERNETES,
  FIREWALL,
  APPLICATION,
  AGENTS,
];
