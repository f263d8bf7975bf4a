import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import { IdParams } from "../../http/record-schemas.ts";
import {
  type ContactDependencies,
  ContactMethod,
  CreateContactBody,
  createContact,
  listOwnContacts,
  removeContact,
  resendCode,
  VerifyContactBody,
  verifyContact,
} from "./contact-methods.ts";

const PATH = "/api/v1/me/contact-methods";
const TAG = "Notifications";
const read = { role: "viewer", scope: "account:read" } as const;
const write = { role: "viewer", scope: "account:write" } as const;

/** How the caller is reached besides the mail of their account. */
export function contactRoutes(deps: ContactDependencies) {
  return [
    route({
      method: "GET",
      path: PATH,
      tag: TAG,
      summary: "List how pages reach you besides the mail of your account",
      access: read,
      responses: { 200: { description: "Oldest first", schema: Type.Array(ContactMethod) } },
      handler: async ({ principal }) => ({ status: 200, body: await listOwnContacts(deps, principal) }),
    }),
    route({
      method: "POST",
      path: PATH,
      tag: TAG,
      summary: "Add a way to be reached; a code is sent there",
      access: write,
      audit: "CREATE_CONTACT_METHOD",
      body: { kind: "json", schema: CreateContactBody },
      responses: { 201: { description: "Not verified yet", schema: ContactMethod } },
      errors: ["CONFLICT", "ALERT_URL_BLOCKED"],
      handler: ({ change }, { body }) =>
        change(async (made) => ({ status: 201, body: await createContact(made, deps, body) })),
    }),
    route({
      method: "POST",
      path: `${PATH}/:id/verify`,
      tag: TAG,
      summary: "Show the code that was sent there; from then on pages go there, too",
      access: write,
      audit: "VERIFY_CONTACT_METHOD",
      params: IdParams,
      body: { kind: "json", schema: VerifyContactBody },
      responses: {
        200: { description: "`verified` says whether it was the code that was sent", schema: ContactMethod },
      },
      handler: ({ change }, { params, body }) =>
        change(async (made) => ({
          status: 200,
          body: await verifyContact(made, Number(params.id), body.code),
        })),
    }),
    route({
      method: "POST",
      path: `${PATH}/:id/resend`,
      tag: TAG,
      summary: "Send another code; the one before ends",
      access: write,
      audit: "RESEND_CONTACT_CODE",
      params: IdParams,
      responses: { 200: { description: "Not verified yet", schema: ContactMethod } },
      errors: ["CONFLICT"],
      handler: ({ change }, { params }) =>
        change(async (made) => ({ status: 200, body: await resendCode(made, deps, Number(params.id)) })),
    }),
    route({
      method: "DELETE",
      path: `${PATH}/:id`,
      tag: TAG,
      summary: "Take away a way to be reached",
      access: write,
      audit: "DELETE_CONTACT_METHOD",
      params: IdParams,
      responses: { 204: { description: "Deleted" } },
      handler: ({ change }, { params }) =>
        change(async (made) => {
          await removeContact(made, Number(params.id));
          return { status: 204 };
        }),
    }),
  ];
}
