import { type ConfigKind, configKind } from "../../configuration/config-kind.ts";
import { oneByOne, recordsOf, verbsOf } from "../../configuration/record-kinds.ts";
import { HostProof } from "./host-proof.ts";
import { StatusPages } from "./pages.ts";
import type { PublishedPages } from "./published-pages.ts";
import { CreatePageBody, UpdatePageBody } from "./types.ts";

interface StatusPageKindDependencies {
  readonly publicUrl: string;
  readonly statusPages: Pick<PublishedPages, "forget">;
  readonly hosts: ConstructorParameters<typeof HostProof>[0];
}

/** Status pages as files describe them; their passwords and subscribers are none of it. */
export function statusPageKind({ publicUrl, statusPages, hosts }: StatusPageKindDependencies): ConfigKind {
  const pages = new StatusPages({ publicUrl, hosts: new HostProof(hosts), onChanged: statusPages.forget });
  return configKind({
    kind: "status-pages",
    audit: "STATUS_PAGE",
    table: "status_pages",
    read: { role: "admin", scope: "status-pages:read" },
    write: { role: "admin", scope: "status-pages:write" },
    create: CreatePageBody,
    update: UpdatePageBody,
    defaults: { monitorIds: [], groups: [], publicNames: [], isPublic: true },
    naming: ["slug"],
    references: [
      { at: ["monitorIds", "*"], to: "monitors" },
      { at: ["groups", "*", "monitorIds", "*"], to: "monitors" },
      { at: ["publicNames", "*", "monitorId"], to: "monitors" },
    ],
    list: recordsOf(pages.pages),
    ...verbsOf({ createAll: oneByOne(pages.create), update: pages.update, remove: pages.remove }),
  });
}
