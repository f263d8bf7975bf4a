import { setting } from "./setting.ts";
import { clientId, clientSecret, issuer, plainName } from "./values.ts";

type Letter = "A" | "B";

const issuerOf = (letter: Letter) =>
  setting({
    name: `IDP_${letter}_ISSUER`,
    default: null,
    defaultNote: "none",
    accepts: "an http or https address",
    meaning:
      `The OpenID provider behind \`idp-${letter.toLowerCase()}\`, exactly as it calls itself. Its redirect address is ` +
      `\`PUBLIC_URL/api/v1/auth/idp-${letter.toLowerCase()}/callback\`.`,
    read: issuer,
  });

const clientIdOf = (letter: Letter) =>
  setting({
    name: `IDP_${letter}_CLIENT_ID`,
    default: null,
    defaultNote: "none",
    accepts: "1 to 255 characters",
    meaning: "Under which this server is registered there.",
    read: clientId,
  });

const clientSecretOf = (letter: Letter) =>
  setting({
    name: `IDP_${letter}_CLIENT_SECRET`,
    default: null,
    defaultNote: "none",
    accepts: "1 to 1024 characters",
    meaning: "The secret of that registration.",
    secret: true,
    read: clientSecret,
  });

const nameOf = (letter: Letter) =>
  setting({
    name: `IDP_${letter}_NAME`,
    default: `Identity provider ${letter}`,
    accepts: "1 to 64 characters",
    meaning: "What people read on the button that signs them in there.",
    read: plainName,
  });

/** The identity providers of the whole server. */
export const IDENTITY_PROVIDER_SETTINGS = {
  idpAIssuer: issuerOf("A"),
  idpAClientId: clientIdOf("A"),
  idpAClientSecret: clientSecretOf("A"),
  idpAName: nameOf("A"),
  idpBIssuer: issuerOf("B"),
  idpBClientId: clientIdOf("B"),
  idpBClientSecret: clientSecretOf("B"),
  idpBName: nameOf("B"),
} as const;
