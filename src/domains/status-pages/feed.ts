import { Feed } from "feed";
import { statusWord } from "./render.ts";
import type { PublicPage } from "./types.ts";
import { WORDS } from "./words.ts";

/** What no XML may hold, in whatever form; one such character in an update would end the feed for every reader. */
const NO_XML = /(?![\t\n\r])\p{Cc}|[\ufffe\uffff]/gu;

/** The Atom feed of a page: an entry for each incident, as it now is; `url` is where the page is. */
export function feedOf(page: PublicPage, url: string): string {
  const newest = page.incidents
    .flatMap(({ updates }) => updates[0]?.at ?? [])
    .toSorted()
    .at(-1);
  const feed = new Feed({
    id: url,
    title: WORDS.status(page.name),
    updated: new Date(newest ?? 0),
    generator: false,
    link: url,
    feedLinks: { atom: `${url}/feed.xml` },
    ...(page.description !== null && { description: page.description }),
  });
  for (const { id, title, status, openedAt, updates } of page.incidents) {
    feed.addItem({
      id: `${url}#incident-${id}`,
      title: `${statusWord(status)}: ${title}`,
      link: `${url}#incident-${id}`,
      date: new Date(updates[0]?.at ?? openedAt),
      published: new Date(openedAt),
      content: updates
        .map(
          (update) =>
            `<p>${update.at}${update.status === null ? "" : ` ${Bun.escapeHTML(statusWord(update.status))}`}: ${Bun.escapeHTML(update.body)}</p>`,
        )
        .join(""),
    });
  }
  return feed.atom1().replace(NO_XML, " ");
}
