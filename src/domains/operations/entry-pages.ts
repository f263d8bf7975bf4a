import { Type } from "typebox";
import { ApiError } from "../../errors.ts";
import { route } from "../../http/define-route.ts";
import { page, wantsPage } from "../../http/page.ts";
import { IdParams } from "../../http/record-schemas.ts";
import type { RequestContext } from "../../http/route.ts";

const shared = {
  method: "GET",
  tag: "Operations",
  access: "public",
  responses: {
    200: {
      description: "A page, for browsers.",
      contentType: "text/html; charset=utf-8",
      schema: Type.String(),
    },
  },
  errors: ["NOT_FOUND"],
} as const;

/**
 * What people find who open the server's address, or the link of a message about an incident or a monitor. Nothing is read
 * for them: these pages say how to see a record, to whoever may, and are the same whether or not there is one.
 */
export function entryPageRoutes(publicUrl: string) {
  const url = Bun.escapeHTML(publicUrl);
  const logIn = `<p><code>obs login --url ${url}</code> signs the command line in.</p>`;
  const recordPage = ({ request }: RequestContext, one: string, collection: string, id: string): Response =>
    pageFor(
      request,
      `${one} ${id}`,
      `<p><code>obs ${collection} show ${id}</code> shows it on the command line, and programs read it at
 <code>GET ${url}/api/v1/${collection}/${id}</code>.</p>
${logIn}
<p><a href="/docs">/docs</a> describes every call.</p>`,
    );
  return [
    route({
      ...shared,
      path: "/",
      summary: "What this server is and how to begin",
      handler: ({ request }) =>
        pageFor(
          request,
          "obs",
          `<p>This is obs, a server for logs, monitors and incidents.</p>
${logIn}
<p><a href="/docs">/docs</a> describes every call, and how to get a token. <a href="/health/ready">/health/ready</a> says
 how the server is.</p>`,
        ),
    }),
    route({
      ...shared,
      path: "/incidents/:id",
      params: IdParams,
      summary: "How to see the incident that a message is about",
      handler: (context, { params }) => recordPage(context, "Incident", "incidents", params.id),
    }),
    route({
      ...shared,
      path: "/monitors/:id",
      params: IdParams,
      summary: "How to see the monitor that a message is about",
      handler: (context, { params }) => recordPage(context, "Monitor", "monitors", params.id),
    }),
  ];
}

/** Throws NOT_FOUND for a program. */
function pageFor(request: Request, title: string, content: string): Response {
  if (!wantsPage(request)) throw new ApiError("NOT_FOUND", "No such resource.");
  return page(title, `<h1>${title}</h1>\n${content}`);
}
