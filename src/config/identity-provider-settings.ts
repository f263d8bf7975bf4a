import { setting } from "./setting.ts";
import { clientId, clientSecret, issuer, plainName } from "./values.ts";

type Letter = "A" | "B";

const issuerOf = (letter: Letter) =>
  setting({
    name: `IDP_${letter}_ISSUER`,
    meaning:
      `The OpenID provider behind \`idp-${letter.toLowerCase()}\`, exactly as it calls itself. Its redirect address is ` +
      `\`PUBLIC_URL/api/v1/auth/idp-${letter.toLowerCase()}/callback\`.`,
    type: issuer,
  });

const clientIdOf = (letter: Letter) =>
  setting({
    name: `IDP_${letter}_CLIENT_ID`,
    meaning: "Under which this server is registered there.",
    type: clientId,
  });

const clientSecretOf = (letter: Letter) =>
  setting({
    name: `IDP_${letter}_CLIENT_SECRET`,
    meaning: "The secret of that registration.",
    secret: true,
    type: clientSecret,
  });

const nameOf = (letter: Letter) =>
  setting({
    name: `IDP_${letter}_NAME`,
    default: `Identity provider ${letter}`,
    meaning: "What people read on the button that signs them in there.",
    type: plainName,
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
