import type { JsonObject } from "../../audit/canonical-json.ts";
import { type ConfigKind, configKind } from "../../configuration/config-kind.ts";
import { oneByOne, recordsOf, verbsOf } from "../../configuration/record-kinds.ts";
import { INDICATOR_TYPES, readIndicator } from "../../entities/indicators/indicator-value.ts";
import { CreateFeedBody, UpdateFeedBody } from "./feed-types.ts";
import { createFeed, FEED_INTERVAL_SEC, feeds, updateFeed } from "./feeds.ts";
import { confirmIoc, iocs, putIocs, removeIoc } from "./records.ts";
import { allowed, putManyAllowed } from "./routes.ts";
import { CreateAllowedBody, CreateIocBody, UpdateAllowedBody, UpdateIocBody } from "./types.ts";

/** IOCs as files describe them: those that a person made or confirmed. `onBatch` rings when there is something new to look for. */
export function iocKind(onBatch: () => void): ConfigKind {
  return configKind({
    kind: "iocs",
    audit: "IOC",
    table: "iocs",
    read: { role: "viewer", scope: "security:read" },
    write: { role: "member", scope: "security:write" },
    create: CreateIocBody,
    update: UpdateIocBody,
    naming: ["type", "value"],
    canonical,
    list: async (tx, organizationId, limit) =>
      (await iocs.listIn(tx, organizationId, limit, tx`by_person`)).map((ioc) => ({
        id: ioc.id,
        fields: ioc,
      })),
    ...verbsOf(
      {
        createAll: putIocs,
        update: confirmIoc,
        remove: removeIoc,
      },
      (change) => change.afterCommit(onBatch),
    ),
  });
}

const access = {
  read: { role: "viewer", scope: "security:read" },
  write: { role: "member", scope: "security:write" },
} as const;

/** Lists of indicators that others keep, as files describe them: not what they bring. They are asked within a minute. */
export const iocFeedKind: ConfigKind = configKind({
  kind: "ioc-feeds",
  audit: "IOC_FEED",
  table: "ioc_feeds",
  ...access,
  create: CreateFeedBody,
  update: UpdateFeedBody,
  defaults: { intervalSec: FEED_INTERVAL_SEC, enabled: true },
  list: recordsOf(feeds),
  ...verbsOf({ createAll: oneByOne(createFeed), update: updateFeed, remove: feeds.remove }),
});

/** Indicators that are let pass, as files describe them. */
export const allowedIndicatorKind: ConfigKind = configKind({
  kind: "ioc-allow-list",
  audit: "ALLOWED_INDICATOR",
  table: "ioc_allow_list",
  ...access,
  create: CreateAllowedBody,
  update: UpdateAllowedBody,
  immutable: ["type", "value"],
  naming: ["type", "value"],
  canonical,
  list: recordsOf(allowed),
  ...verbsOf({
    createAll: putManyAllowed,
    update: allowed.update,
    remove: allowed.remove,
  }),
});

/** A value in its one spelling; what is none stays for the refusal to say so. */
function canonical(fields: JsonObject): JsonObject {
  const type = INDICATOR_TYPES.find((known) => known === fields.type);
  if (type === undefined || typeof fields.value !== "string") return fields;
  const reading = readIndicator(type, fields.value);
  return reading.ok ? { ...fields, value: reading.indicator.value } : fields;
}
