import type { SecretBox } from "../../access/secret-box.ts";
import { DependencyError } from "../../errors.ts";
import { MemoryLoginThrottle } from "../../identity/memory-login-throttle.ts";
import { PasswordHasher } from "../../identity/password-hasher.ts";
import type { Logger } from "../../log.ts";
import { pageRoutes, publicPageRoutes } from "./public-routes.ts";
import { PublishedPages } from "./published-pages.ts";
import type { PageSource } from "./read-page.ts";
import { copiesIn } from "./sealed-copies.ts";
import { Unlocking } from "./unlocking.ts";

interface KeptPagesOptions {
  readonly dataDirectory: string;
  readonly box: SecretBox;
  /** Where the server is reached. */
  readonly publicUrl: string;
  readonly log: Logger;
}

/** Pages as an earlier run of the server has kept them, for as long as there is no database to read them from. */
export async function openKeptPages({ dataDirectory, box, publicUrl, log }: KeptPagesOptions) {
  const now = Date.now;
  const pages = new PublishedPages({ source: AWAY, copies: copiesIn(dataDirectory, box), now, log });
  await pages.openCopies();
  const unlocking = new Unlocking({
    box,
    passwords: new PasswordHasher({ concurrency: 1 }),
    // Of this instance alone: what is common to all is counted where the database is.
    throttle: new MemoryLoginThrottle({ now }),
    isSecure: publicUrl.startsWith("https:"),
    now,
  });
  const reading = { pages, unlocking, publicUrl };
  return { pages, routes: [...publicPageRoutes(reading), ...pageRoutes(reading)] };
}

const notYet = () =>
  Promise.reject(new DependencyError("postgres", "the database has not been opened", { retryable: true }));
const AWAY: PageSource = { read: notYet, list: notYet };
