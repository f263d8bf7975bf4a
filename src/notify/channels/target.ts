import { type Static, Type } from "typebox";

const Url = Type.String();

/** One receiver, with everything that it takes to reach it: secrets, which are kept sealed. */
export const Target = Type.Union([
  Type.Object({ channel: Type.Literal("email"), address: Type.String() }),
  Type.Object({ channel: Type.Literal("webhook"), url: Url }),
  Type.Object({ channel: Type.Literal("chatA"), url: Url }),
  Type.Object({ channel: Type.Literal("chatB"), url: Url }),
  Type.Object({ channel: Type.Literal("chatC"), url: Url }),
  Type.Object({ channel: Type.Literal("chatD"), botToken: Type.String(), chatId: Type.String() }),
  Type.Object({ channel: Type.Literal("pagingA"), routingKey: Type.String() }),
  Type.Object({ channel: Type.Literal("pagingB"), apiKey: Type.String() }),
  Type.Object({ channel: Type.Literal("sms"), number: Type.String() }),
  Type.Object({ channel: Type.Literal("voice"), number: Type.String() }),
  Type.Object({
    channel: Type.Literal("template"),
    url: Url,
    method: Type.Enum(["POST", "PUT"]),
    headers: Type.Record(Type.String(), Type.String()),
    body: Type.String(),
  }),
]);
export type Target = Static<typeof Target>;
export type ChannelName = Target["channel"];
export type TargetOf<C extends ChannelName> = Extract<Target, { channel: C }>;
