import { type Static, Type } from "typebox";
import { CURSOR_MAX_CHARS } from "../../../audit/limits.ts";
import { CHAIN_PROBLEMS } from "./chain-walk.ts";

export const VerifyParameters = Type.Object(
  {
    cursor: Type.Optional(
      Type.String({
        maxLength: CURSOR_MAX_CHARS,
        description: "`nextCursor` of an answer that did not reach the end.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type VerifyParameters = Static<typeof VerifyParameters>;

export const VerifyAnswer = Type.Object({
  ok: Type.Boolean({
    description:
      "Whether the whole chain was checked and is intact; false as long as there is a `nextCursor`.",
  }),
  checkedRows: Type.Integer({ description: "Rows from the first one on that are intact, over all calls." }),
  firstBrokenId: Type.Union([Type.Integer(), Type.Null()], {
    description: "The first row that is not what followed the rows before it.",
  }),
  anchoredThrough: Type.Integer({
    description:
      "How many of the checked rows, from the first one on, the anchors outside of the database vouch for.",
  }),
  missingTail: Type.Boolean({ description: "Whether rows are gone from the end of the log." }),
  problem: Type.Union([Type.Enum([...CHAIN_PROBLEMS]), Type.Null()], {
    description: "What was found first.",
  }),
  nextCursor: Type.Union([Type.String(), Type.Null()], {
    description:
      "Where the next call goes on when the log was too long for this one, which found nothing wrong.",
  }),
});
export type VerifyAnswer = Static<typeof VerifyAnswer>;
