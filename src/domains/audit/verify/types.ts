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

export const VerifyAnswer = Type.Object(
  {
    ok: Type.Boolean({
      description:
        "Whether the whole chain was checked and is intact; false as long as there is a `nextCursor`.",
      examples: [true],
    }),
    checkedRows: Type.Integer({
      description: "Rows from the first one on that are intact, over all calls.",
      examples: [1042],
    }),
    firstBrokenId: Type.Union([Type.Integer(), Type.Null()], {
      description: "The first row that is not what followed the rows before it.",
      examples: [null],
    }),
    anchoredThrough: Type.Integer({
      examples: [1000],
      description:
        "How many of the checked rows, from the first one on, the anchors outside of the database vouch for.",
    }),
    missingTail: Type.Boolean({ description: "Whether rows are gone from the end of the log." }),
    problem: Type.Union([Type.Enum([...CHAIN_PROBLEMS]), Type.Null()], {
      description: "What was found first.",
      examples: [null],
    }),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      examples: [null],
      description:
        "Where the next call goes on when the log was too long for this one, which found nothing wrong.",
    }),
  },
  { $id: "AuditVerification" },
);
export type VerifyAnswer = Static<typeof VerifyAnswer>;
