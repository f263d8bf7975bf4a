import { Type } from "typebox";
import type { ConfigKind } from "../../configuration/config-kind.ts";
import { settingKind } from "../../configuration/setting-kind.ts";
import { findPrices, setPrices } from "./prices.ts";
import { PricesBody } from "./types.ts";

const PriceTerms = Type.Object(
  { prices: Type.Optional(PricesBody.properties.prices) },
  { additionalProperties: false },
);

/** What models cost, as files describe it: each change of theirs is another version. */
export const modelPriceKind: ConfigKind = settingKind({
  kind: "model-prices",
  action: "SET_MODEL_PRICES",
  read: { role: "viewer", scope: "security:read" },
  write: { role: "admin", scope: "security:write" },
  body: PriceTerms,
  defaults: { prices: {} },
  find: findPrices,
  put: (change, { prices = {} }) => setPrices(change, prices),
});
