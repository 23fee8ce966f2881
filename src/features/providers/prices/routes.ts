import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { organizationPath } from "../../../http/shapes.ts";
import { ModelPrices, NewPrices } from "./schema.ts";
import { readPrices, setPrices } from "./service.ts";

const tags = ["Providers"];
const path = "/api/organizations/{orgSlug}/model-prices";
const feature = "providers";

const show = guarded(
  "org:read",
  {
    method: "get",
    path,
    operationId: "getModelPrices",
    tags,
    summary: "Read the prices of models",
    description: "The organization's own prices, and the list prices that hold for models without one.",
    request: { params: organizationPath },
    responses: { 200: json(ModelPrices, "The prices."), ...errorAnswers(404) },
  },
  { feature },
);

const change = guarded(
  "org:write",
  {
    method: "put",
    path,
    operationId: "setModelPrices",
    tags,
    summary: "Set the prices of models",
    description:
      "Replaces all own prices; with none, the list prices hold. In force with the next turn; turns that ended keep their costs.",
    request: { params: organizationPath, body: jsonBody(NewPrices) },
    responses: { 200: json(ModelPrices, "The prices as they are now."), ...errorAnswers(404) },
  },
  { feature },
);

/** `/api/organizations/{orgSlug}/model-prices`. */
export const priceRoutes = router()
  .openapi(show, async (c) => c.json(await readPrices(c.var.ctx), 200))
  .openapi(change, async (c) => c.json(await setPrices(c.var.ctx, c.req.valid("json")), 200));
