import { Type } from "typebox";
import { ApiError } from "../../errors.ts";
import { route } from "../../http/define-route.ts";
import { readBody } from "../../http/read-body.ts";
import type { Reply, RequestContext } from "../../http/route.ts";
import { FORM_MAX_BYTES } from "./limits.ts";
import { answerMadeOf, answerOnce, answerPeople } from "./page-answers.ts";
import { type PageReading, pageOfHost, requireOpenPage, requirePage, urlOf } from "./page-reading.ts";
import type { ShownPage } from "./published-pages.ts";
import { lockedDocument, pageDocument, sentenceDocument } from "./render.ts";
import { PublicPage } from "./types.ts";
import { WORDS } from "./words.ts";

export const SlugParams = Type.Object({ slug: Type.String({ minLength: 1, maxLength: 100 }) });
const HostParams = Type.Object({ host: Type.String({ minLength: 1, maxLength: 253 }) });
export const Page = Type.String({ description: "A page for people" });
const COLOURS = {
  operational: "#17713a",
  degraded: "#8a5300",
  down: "#b3221f",
  maintenance: "#1f4fd8",
  unknown: "#5c6470",
} as const;
const PUBLIC = { tag: "Status pages", access: "public", rateLimit: "public", params: SlugParams } as const;
const UNCHANGED = { description: "As it was" };

/** What everyone may ask of a status page, as data. */
export function publicPageRoutes(reading: PageReading) {
  return [
    route({
      ...PUBLIC,
      method: "GET",
      path: "/api/v1/status-pages/public/:slug",
      summary: "Read a status page",
      responses: { 200: { description: "As it is now", schema: PublicPage }, 304: UNCHANGED },
      errors: ["PAGE_LOCKED", "NOT_FOUND"],
      handler: async ({ request }, { params }) => {
        const shown = await requireOpenPage(reading, params.slug, request);
        return answerMadeOf(shown, "json", request, () => ({
          contentType: "application/json",
          text: JSON.stringify(shown.page),
        }));
      },
    }),
    feedRoute(reading, "/api/v1/status-pages/public/:slug/feed.xml"),
    route({
      ...PUBLIC,
      method: "GET",
      path: "/api/v1/status-pages/public/by-host/:host",
      params: HostParams,
      summary: "Find the status page of a host of its own",
      responses: {
        200: { description: "Its page", schema: Type.Object({ slug: Type.String(), name: Type.String() }) },
      },
      errors: ["NOT_FOUND"],
      handler: async (_context, { params }) => {
        const slug = reading.pages.slugOfHost(params.host.toLowerCase());
        const { page } = await requirePage(reading, slug ?? "");
        return { status: 200, body: { slug: page.slug, name: page.name } };
      },
    }),
    route({
      ...PUBLIC,
      method: "POST",
      path: "/api/v1/status-pages/public/:slug/unlock",
      summary: "Open a status page with its password, for a day, by a cookie",
      effect: "read",
      rateLimit: "default",
      body: {
        kind: "json",
        schema: Type.Object(
          { password: Type.String({ minLength: 1, maxLength: 200 }) },
          { additionalProperties: false },
        ),
        maxBytes: FORM_MAX_BYTES,
      },
      responses: { 204: { description: "The cookie opens it" } },
      errors: ["INVALID_CREDENTIALS", "NOT_FOUND"],
      handler: async (context, { params, body }) => {
        const shown = await requirePage(reading, params.slug);
        const cookie = await reading.unlocking.unlock(shown, body.password, context);
        if (cookie === null) throw new ApiError("INVALID_CREDENTIALS", "That is not the password.");
        return { status: 204, headers: { "set-cookie": cookie } };
      },
    }),
  ];
}

/** The page itself, and what people open from it. */
export function pageRoutes(reading: PageReading) {
  const { pages, unlocking } = reading;
  const base = (request: Request, slug: string): string =>
    pageOfHost(pages, request) === slug ? "" : `/status/${slug}`;
  const answerPage = (shown: ShownPage, request: Request, isEmbedded: boolean): Reply => {
    const own = base(request, shown.page.slug);
    if (!unlocking.isOpen(shown, request)) return answerOnce(lockedDocument(own, false), 401);
    return answerMadeOf(shown, `${isEmbedded ? "embed" : "page"} ${own}`, request, () => {
      const { text, policy } = pageDocument(shown.page, { base: own, isEmbedded });
      return { contentType: "text/html; charset=utf-8", text, policy };
    });
  };
  return [
    route({
      ...PUBLIC,
      method: "GET",
      path: "/status/:slug",
      summary: "The status page; with `embed` what of it stands in another page",
      refusalType: "text/html",
      query: Type.Object({ embed: Type.Optional(Type.String({ maxLength: 10 })) }),
      responses: {
        200: { description: "The page", contentType: "text/html", schema: Page },
        304: UNCHANGED,
        401: { description: "The page that asks for its password", contentType: "text/html", schema: Page },
        404: { description: "No such page", contentType: "text/html", schema: Page },
      },
      handler: (context, { params: { slug }, query }) => {
        const { request } = context;
        const isEmbedded = query.embed !== undefined;
        const fresh = pages.fresh(slug);
        // Nothing to wait for: as in all that is asked a thousand times a second.
        if (fresh !== undefined && fresh !== null) return answerPage(fresh, request, isEmbedded);
        return answerPeople(context, async () => {
          const shown = await unlessMissing(requirePage(reading, slug));
          return shown === null
            ? answerOnce(sentenceDocument(WORDS.missing), 404)
            : answerPage(shown, request, isEmbedded);
        });
      },
    }),
    feedRoute(reading, "/status/:slug/feed.xml"),
    route({
      ...PUBLIC,
      method: "GET",
      path: "/status/:slug/badge.svg",
      summary: "The state of a status page as a badge",
      responses: { 200: { description: "An image", contentType: "image/svg+xml" }, 304: UNCHANGED },
      errors: ["PAGE_LOCKED", "NOT_FOUND"],
      handler: async ({ request }, { params }) => {
        const shown = await requireOpenPage(reading, params.slug, request);
        const { state } = shown.page;
        // Loaded with the first badge: 5 MiB, most of them widths of letters.
        const { makeBadge } = await import("badge-maker");
        return answerMadeOf(shown, "badge", request, () => ({
          contentType: "image/svg+xml",
          text: makeBadge({ label: "status", message: WORDS.component[state], color: COLOURS[state] }),
        }));
      },
    }),
    route({
      ...PUBLIC,
      method: "POST",
      path: "/status/:slug/unlock",
      summary: "The form that opens a status page",
      refusalType: "text/html",
      effect: "read",
      rateLimit: "default",
      body: formOf({ password: Type.String() }),
      responses: {
        303: { description: "To the page" },
        401: { description: "Not the password", contentType: "text/html", schema: Page },
      },
      errors: ["NOT_FOUND"],
      handler: (context, { params: { slug } }) =>
        answerPeople(context, async () => {
          const shown = await requirePage(reading, slug);
          const password = (await readForm(context)).get("password") ?? "";
          const own = base(context.request, slug);
          const cookie = await unlocking.unlock(shown, password, context);
          if (cookie === null) return answerOnce(lockedDocument(own, true), 401);
          return { status: 303, headers: { location: own === "" ? "/" : own, "set-cookie": cookie } };
        }),
    }),
  ];
}

function feedRoute<const Path extends string>(reading: PageReading, path: Path) {
  return route({
    ...PUBLIC,
    method: "GET",
    path,
    summary: "The incidents of a status page as an Atom feed",
    responses: { 200: { description: "The feed", contentType: "application/atom+xml" }, 304: UNCHANGED },
    errors: ["PAGE_LOCKED", "NOT_FOUND"],
    handler: async ({ request }, { params }) => {
      const shown = await requireOpenPage(reading, params.slug, request);
      // Loaded with the first feed, with what writes XML.
      const { feedOf } = await import("./feed.ts");
      return answerMadeOf(shown, "feed", request, () => ({
        contentType: "application/atom+xml; charset=utf-8",
        text: feedOf(shown.page, urlOf(shown, reading.publicUrl)),
      }));
    },
  });
}

const FORM_TYPE = "application/x-www-form-urlencoded";

/** The body of a form without script. */
export function formOf(fields: Parameters<typeof Type.Object>[0]) {
  return { kind: "raw", contentTypes: [FORM_TYPE], documented: Type.Object(fields) } as const;
}

/** What a form was filled in with. Throws what `readBody` throws. */
export async function readForm({ request, reserveMemory }: RequestContext): Promise<URLSearchParams> {
  const limits = { maxPackedBytes: FORM_MAX_BYTES, maxUnpackedBytes: FORM_MAX_BYTES, encodings: [] };
  return new URLSearchParams(new TextDecoder().decode(await readBody(request, limits, reserveMemory)));
}

function unlessMissing<T>(found: Promise<T>): Promise<T | null> {
  return found.catch((error: unknown) => {
    if (error instanceof ApiError && error.code === "NOT_FOUND") return null;
    throw error;
  });
}
