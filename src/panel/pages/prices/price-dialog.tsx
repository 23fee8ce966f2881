import type { ModelPrice, ModelPrices } from "../../../client/index.ts";
import { useForm } from "../../data/form/form.ts";
import { orgSlug } from "../../data/session.ts";
import { type DialogProps, type FieldTable, FormDialog } from "../../ui/form/form.tsx";
import { providers } from "../agents/providers.ts";
import { nameOf, replacePrice } from "./stored-prices.ts";

interface Props extends DialogProps {
  prices: ModelPrices;
  /** An own price, or a list price to begin an own one with; null for a new price. */
  price: ModelPrice | null;
}

/** Sets one of the organization's prices. */
export function PriceDialog({ prices, price, ...props }: Props) {
  const { prices: own, currency } = prices;
  const blank: Omit<ModelPrice, "currency"> = {
    provider: "openai",
    model: "",
    inputPerMillion: Number.NaN,
    cachedInputPerMillion: null,
    cacheWritePerMillion: null,
    outputPerMillion: Number.NaN,
  };
  const name = price && nameOf(price);
  const stored: ModelPrice = { ...amountsOf(price ?? blank), currency };
  const form = useForm<ModelPrice>(null, stored, (changes) =>
    replacePrice(orgSlug.value, name, { ...stored, ...changes }),
  );
  // The price is the last one of the request.
  const path = `prices.${own.filter((one) => nameOf(one) !== name).length}`;
  const amount = { kind: "number", step: "any" } as const;
  const ofCache = { ...amount, optional: true, hint: "Empty: as other input." } as const;
  const models = prices.listPrices.prices.filter(({ provider }) => provider === form.values.provider);
  const fields: FieldTable<ModelPrice> = [
    [
      {
        name: "provider",
        path: `${path}.provider`,
        label: "Provider",
        kind: "choice",
        choices: providers,
        shown: price === null,
      },
      {
        name: "model",
        path: `${path}.model`,
        label: "Model",
        hint: "A name, or its beginning with a * behind it. An exact name comes before the longest beginning.",
        required: true,
        autocapitalize: "none",
        spellcheck: false,
        suggestions: models.map(({ model }) => model),
        shown: price === null,
      },
    ],
    [
      { name: "inputPerMillion", path: `${path}.inputPerMillion`, label: "Input", ...amount },
      { name: "outputPerMillion", path: `${path}.outputPerMillion`, label: "Output", ...amount },
    ],
    [
      { name: "cachedInputPerMillion", path: `${path}.cachedInputPerMillion`, label: "Cached input", ...ofCache },
      { name: "cacheWritePerMillion", path: `${path}.cacheWritePerMillion`, label: "Cache write", ...ofCache },
    ],
    {
      name: "currency",
      path: `${path}.currency`,
      label: "Currency",
      hint: "Of all own prices: another one changes it for each. List prices are in force only in their currency.",
      required: true,
      maxLength: 3,
      autocapitalize: "none",
      spellcheck: false,
    },
  ];
  const title = name === null ? "New price" : `Price of ${name}`;
  return <FormDialog wide title={title} action="Save" form={form} fields={fields} {...props} />;
}

/** The fields of a price that a list price has, too. */
const amountsOf = ({
  provider,
  model,
  inputPerMillion,
  cachedInputPerMillion,
  cacheWritePerMillion,
  outputPerMillion,
}: Omit<ModelPrice, "currency">) => ({
  provider,
  model,
  inputPerMillion,
  cachedInputPerMillion,
  cacheWritePerMillion,
  outputPerMillion,
});
