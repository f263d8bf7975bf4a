import { configKind } from "../../configuration/config-kind.ts";
import { recordsOf, verbsOf } from "../../configuration/record-kinds.ts";
import { identities, putIdentities, removeIdentity, updateIdentity } from "./records.ts";
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
    createAll: putIdentities,
    update: updateIdentity,
    remove: removeIdentity,
  }),
});
