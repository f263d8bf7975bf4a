import type { ChannelEndpoints, ChannelRequest, DeliveryContext, HttpChannel } from "./channel.ts";
import { chatA } from "./chat-a.ts";
import { chatB } from "./chat-b.ts";
import { chatC } from "./chat-c.ts";
import { chatD } from "./chat-d.ts";
import { sms, voice } from "./gateways.ts";
import type { Notification } from "./notification.ts";
import { pagingA } from "./paging-a.ts";
import { pagingB } from "./paging-b.ts";
import type { Target } from "./target.ts";
import { template } from "./template.ts";
import { webhook } from "./webhook.ts";

/** A receiver that is told over HTTP. */
export type HttpTarget = Exclude<Target, { channel: "email" }>;

/** The request by which a receiver is told. Throws an Error where the operator has no such service. */
export function requestFor(
  target: HttpTarget,
  notification: Notification,
  context: DeliveryContext,
): ChannelRequest {
  return inChannel(target, (channel, own) => channel.request(own, notification, context));
}

/** Where a receiver is told, so that one place that hangs holds nothing else up. */
export function laneOf(target: Target, endpoints: ChannelEndpoints): string {
  if (target.channel === "email") return "mail";
  return inChannel(target, (channel, own) => channel.lane(own, endpoints));
}

/** Whether a receiver is told of such things at all. */
export function isTold(target: Target, notification: Notification): boolean {
  if (target.channel === "email") return true;
  return inChannel(target, (channel) => channel.tells?.(notification) ?? true);
}

/** Uses the channel of a receiver: the one place that knows them all. */
function inChannel<R>(target: HttpTarget, use: <T>(channel: HttpChannel<T>, own: T) => R): R {
  switch (target.channel) {
    case "webhook":
      return use(webhook, target);
    case "chatA":
      return use(chatA, target);
    case "chatB":
      return use(chatB, target);
    case "chatC":
      return use(chatC, target);
    case "chatD":
      return use(chatD, target);
    case "pagingA":
      return use(pagingA, target);
    case "pagingB":
      return use(pagingB, target);
    case "sms":
      return use(sms, target);
    case "voice":
      return use(voice, target);
    case "template":
      return use(template, target);
  }
}
