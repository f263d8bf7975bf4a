import { presetOf } from "../../../ingest/index.ts";
import type { JsonObject } from "../../audit/canonical-json.ts";
import { type ConfigKind, configKind } from "../../configuration/config-kind.ts";
import { isJsonObject } from "../../configuration/json.ts";
import { oneByOne } from "../../configuration/record-kinds.ts";
import { SourceService } from "./service.ts";
import { listSources } from "./store.ts";
import { CreateSourceBody, UpdateSourceBody } from "./types.ts";

/** Ingest sources as files describe them. What they do at the moment, such as being disabled, is not in it. */
export function ingestSourceKind(deps: ConstructorParameters<typeof SourceService>[0]): ConfigKind {
  const service = new SourceService(deps);
  return configKind({
    kind: "ingest-sources",
    audit: "INGEST_SOURCE",
    table: "ingest_sources",
    read: { role: "viewer", scope: "sources:read" },
    write: { role: "member", scope: "sources:write" },
    create: CreateSourceBody,
    update: UpdateSourceBody,
    naming: ["sourceKey"],
    canonical,
    list: async (tx, organizationId, limit) =>
      (await listSources(tx, organizationId)).slice(0, limit).map(({ sourceKey, ...source }) => ({
        id: sourceKey,
        fields: { sourceKey, ...source },
      })),
    make: oneByOne(async (change, body) => ({ id: (await service.create(change, body)).sourceKey })),
    change: (change, sourceKey, body) => service.update(change, sourceKey, body),
    remove: (change, sourceKey) => service.remove(change, sourceKey),
  });
}

/** What a preset or a mapping says that the source does not, as where one is made. */
function canonical(fields: JsonObject): JsonObject {
  const preset = typeof fields.preset === "string" ? presetOf(fields.preset) : null;
  const given: unknown =
    fields.mapping ?? (preset === null ? {} : JSON.parse(JSON.stringify(preset.mapping)));
  const mapping = isJsonObject(given) ? given : {};
  const format = fields.format ?? mapping.format ?? preset?.format ?? "json";
  return { ...fields, mapping, format };
}
