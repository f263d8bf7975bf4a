import { signWebhook } from "../webhook-signature.ts";
import { type HttpChannel, hostOf, jsonPost } from "./channel.ts";
import type { TargetOf } from "./target.ts";

/** Standard Webhooks 1.0.0: `{type, timestamp, data}`, signed, under the same id at every attempt. */
export const webhook: HttpChannel<TargetOf<"webhook">> = {
  lane: ({ url }) => hostOf(url),
  request: ({ url }, notification, { id, nowMs, secrets }) => {
    const { type, at, title, incidentId, incident, update, monitor, link } = notification;
    const data = {
      ...{ title, link, incidentId, incident },
      ...(update !== undefined && { update }),
      ...(monitor !== null && { monitor }),
    };
    const request = jsonPost(url, { type, timestamp: at, data });
    const timestampSec = Math.floor(nowMs / 1000);
    return {
      ...request,
      headers: { ...request.headers, ...signWebhook(secrets, { id, timestampSec, body: request.body }) },
    };
  },
};
