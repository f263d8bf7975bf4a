import { ApiError } from "../../errors.ts";
import type { PublishedPages, ShownPage } from "./published-pages.ts";
import type { Unlocking } from "./unlocking.ts";

/** How pages are found and opened for whoever reads them. */
export interface PageReading {
  readonly pages: PublishedPages;
  readonly unlocking: Unlocking;
  /** Where the server is reached. */
  readonly publicUrl: string;
}

const SLUG = /^[a-z0-9][a-z0-9-]{1,62}$/;

/** Throws NOT_FOUND for no page, and for one that is not public. */
export async function requirePage({ pages }: Pick<PageReading, "pages">, slug: string): Promise<ShownPage> {
  const shown = SLUG.test(slug) ? await pages.find(slug) : null;
  if (shown === null) throw new ApiError("NOT_FOUND", "No such status page.");
  return shown;
}

/** Throws PAGE_LOCKED for a page that this reader has not unlocked. */
export async function requireOpenPage(
  reading: PageReading,
  slug: string,
  request: Request,
): Promise<ShownPage> {
  const shown = await requirePage(reading, slug);
  if (!reading.unlocking.isOpen(shown, request))
    throw new ApiError("PAGE_LOCKED", "The status page has a password; unlock it first.");
  return shown;
}

/** Where everyone finds a page. */
export function urlOf(
  { customDomain, page }: Pick<ShownPage, "customDomain" | "page">,
  publicUrl: string,
): string {
  return customDomain === null ? `${publicUrl}/status/${page.slug}` : `https://${customDomain}`;
}

/** The page that alone answers where a request was sent to; null for a host of none. */
export function pageOfHost(
  pages: Pick<PublishedPages, "hasHosts" | "slugOfHost">,
  request: Request,
): string | null {
  return pages.hasHosts ? pages.slugOfHost(hostOf(request)) : null;
}

/** The host that a request was sent to, without its port. */
function hostOf(request: Request): string {
  return (request.headers.get("host") ?? new URL(request.url).host).replace(/:\d+$/, "").toLowerCase();
}
