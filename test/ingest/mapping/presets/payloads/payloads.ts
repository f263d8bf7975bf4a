import { AUDIT_LOG_PAYLOADS } from "./audit-logs.ts";
import { CLOUD_AND_IDENTITY_PAYLOADS } from "./cloud-and-identity.ts";
import { FIREWALL_PAYLOADS } from "./firewalls.ts";
import { HOST_PAYLOADS } from "./hosts.ts";
import { LOGGER_PAYLOADS } from "./loggers.ts";
import { MAIL_WEBHOOK_NETWORK_PAYLOADS } from "./mail-webhooks-network.ts";
import type { Payload } from "./payload.ts";
import { WEB_AND_CONTAINER_PAYLOADS } from "./web-and-containers.ts";

/** One invented payload of every preset. */
export const PAYLOADS: readonly Payload[] = [
  ...WEB_AND_CONTAINER_PAYLOADS,
  ...CLOUD_AND_IDENTITY_PAYLOADS,
  ...AUDIT_LOG_PAYLOADS,
  ...MAIL_WEBHOOK_NETWORK_PAYLOADS,
  ...HOST_PAYLOADS,
  ...FIREWALL_PAYLOADS,
  ...LOGGER_PAYLOADS,
];
