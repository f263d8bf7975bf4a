import { expect } from "bun:test";
import { tellSubscribers } from "../../../src/domains/status-pages/subscribers/notices.ts";
import { inOrganization } from "../../../src/storage/organization-transaction.ts";
import type { TestStores } from "../../harness/stores.ts";
import { freshSlug, NOW_MS, organization, PAGES, type PageServer } from "./page-server.ts";

let clients = 0;

/** A page with two components, and how somebody new asks to be told of it. */
export async function subscribedPage(stores: TestStores, on: PageServer) {
  const made = await organization(stores, on);
  const slug = freshSlug();
  const api = await made.monitor("api-internal", "down");
  const shop = await made.monitor("Shop");
  const { body } = await made.send("POST", PAGES, {
    ...{ name: "Acme", slug, monitorIds: [api, shop] },
    publicNames: [{ monitorId: api, name: "API" }],
  });
  const email = `${crypto.randomUUID()}@example.com`;
  const subscribe = (to = email, monitorIds?: number[], peerAddress?: string, webhookUrl?: string) => {
    clients += 1;
    return on.app.send("POST", `${PAGES}/public/${slug}/subscribe`, {
      json: {
        email: to,
        ...(monitorIds !== undefined && { monitorIds }),
        ...(webhookUrl !== undefined && { webhookUrl }),
      },
      peerAddress: peerAddress ?? `198.51.${Math.floor(clients / 250)}.${clients % 250}`,
    });
  };
  const subscribers = async () =>
    Object.values((await made.send("GET", `${PAGES}/${body.id}/subscribers`)).body);
  const link = (to = email) => {
    const mail = on.mails.findLast((one) => one.to === to);
    return (
      new URL(mail?.link ?? "http://nothing.example.com").pathname +
      new URL(mail?.link ?? "http://n.example.com").search
    );
  };
  const subscribed = async (to = email, monitorIds?: number[]) => {
    await subscribe(to, monitorIds);
    expect((await on.app.send("GET", link(to))).status).toBe(200);
  };
  const tell = (incidentId: number, monitorIds: number[]) =>
    inOrganization(stores.postgres, made.id, (tx) =>
      tellSubscribers({ tx, organizationId: made.id, nowMs: NOW_MS }, incidentId, monitorIds),
    );
  const mailsTo = (to = email) => on.mails.filter((mail) => mail.to === to);
  return {
    ...made,
    slug,
    api,
    shop,
    email,
    subscribe,
    subscribed,
    subscribers,
    link,
    tell,
    mailsTo,
    path: `${PAGES}/${body.id}`,
  };
}
