import { Type } from "typebox";
import { CALLBACK_PARAMETER_MAX_CHARS, RETURN_PATH_MAX_CHARS } from "./limits.ts";

/** The queries with which a browser goes to a provider and comes back. */

export const StartQuery = Type.Object({
  returnTo: Type.Optional(
    Type.String({
      maxLength: RETURN_PATH_MAX_CHARS,
      description: "The path of this server to go to afterwards; `/` by default.",
    }),
  ),
});

const Parameter = Type.Optional(Type.String({ maxLength: CALLBACK_PARAMETER_MAX_CHARS }));
/** Providers add parameters of their own, which do not matter; the OpenID library judges those that do. */
export const CallbackQuery = Type.Object(
  { state: Parameter, code: Parameter, iss: Parameter, error: Parameter },
  { additionalProperties: true },
);
