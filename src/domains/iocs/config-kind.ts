import type { JsonObject } from "../../audit/canonical-json.ts";
import { type ConfigKind, configKind } from "../../configuration/config-kind.ts";
import { verbsOf } from "../../configuration/record-kinds.ts";
import { INDICATOR_TYPES, readIndicator } from "../../entities/indicators/indicator-value.ts";
import { confirmIoc, iocs, putIoc, removeIoc } from "./records.ts";
import { CreateIocBody, UpdateIocBody } from "./types.ts";

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
        create: async (change, body: CreateIocBody) => (await putIoc(change, body)).record,
        update: confirmIoc,
        remove: removeIoc,
      },
      (change) => change.afterCommit(onBatch),
    ),
  });
}

/** A value in its one spelling; what is none stays for the refusal to say so. */
function canonical(fields: JsonObject): JsonObject {
  const type = INDICATOR_TYPES.find((known) => known === fields.type);
  if (type === undefined || typeof fields.value !== "string") return fields;
  const reading = readIndicator(type, fields.value);
  return reading.ok ? { ...fields, value: reading.indicator.value } : fields;
}
