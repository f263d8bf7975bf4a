import { configKind } from "../../configuration/config-kind.ts";
import { recordsOf, verbsOf } from "../../configuration/record-kinds.ts";
import { identities, putIdentity, removeIdentity, updateIdentity } from "./records.ts";
import { CreateIdentityBody, UpdateIdentityBody } from "./types.ts";

/** Identities as files describe them. */
export const identityKind = configKind({
  kind: "identities",
  audit: "IDENTITY",
  table: "identities",
  read: { role: "viewer", scope: "security:read" },
  write: { role: "member", scope: "security:write" },
  create: CreateIdentityBody,
  update: UpdateIdentityBody,
  defaults: { tags: [], aliases: [] },
  naming: ["principal"],
  list: recordsOf(identities),
  ...verbsOf({
    create: async (change, body: CreateIdentityBody) => (await putIdentity(change, body)).record,
    update: updateIdentity,
    remove: removeIdentity,
  }),
});
