import type { ModelPrice, ModelPrices } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useLoaded } from "../../data/list/load.ts";
import { orgSlug } from "../../data/session.ts";
import { Allowed } from "../../ui/allowed.tsx";
import { Card } from "../../ui/card.tsx";
import { DeleteButton, DialogButton } from "../../ui/dialog/buttons.tsx";
import { type Column, Table } from "../../ui/list/table.tsx";
import { Empty, WhenLoaded } from "../../ui/list/when-loaded.tsx";
import { Page } from "../../ui/page.tsx";
import { exactMoneyText } from "../../ui/text/money.ts";
import { PriceDialog } from "./price-dialog.tsx";
import { nameOf, replacePrice } from "./stored-prices.ts";

/** The organization's own prices of models, and the list prices. */
export function PricesPage() {
  const slug = orgSlug.value;
  const prices = useLoaded(() => api.getModelPrices({ orgSlug: slug }), [slug]);
  return (
    <Page
      title="Prices"
      lead="What models cost, for a million tokens. Changes are in force with the next turn; turns that ended keep their costs."
    >
      <WhenLoaded of={prices}>
        {(read) => (
          <>
            <OwnPrices prices={read} onChange={prices.reload} />
            <ListPrices prices={read} onChange={prices.reload} />
          </>
        )}
      </WhenLoaded>
    </Page>
  );
}

interface Props {
  prices: ModelPrices;
  onChange: () => Promise<void>;
}

function OwnPrices({ prices, onChange }: Props) {
  const { prices: own, currency } = prices;
  const add = (
    <Allowed to="org:write">
      <div class="actions">
        <DialogButton
          look="primary"
          dialog={(onClose) => <PriceDialog prices={prices} price={null} onSaved={onChange} onClose={onClose} />}
        >
          New price
        </DialogButton>
      </div>
    </Allowed>
  );
  return (
    <Card title="Own prices" lead={own.length > 0 && `In ${currency}. They come before the list prices.`}>
      {own.length === 0 ? (
        <Empty title="No own prices">
          <p>The list prices below are in force.</p>
          {add}
        </Empty>
      ) : (
        <>
          <Table
            label="Own prices"
            rows={own}
            keyOf={nameOf}
            columns={columns}
            actionsTo="org:write"
            actions={(price) => (
              <>
                <DialogButton
                  small
                  dialog={(onClose) => (
                    <PriceDialog prices={prices} price={price} onSaved={onChange} onClose={onClose} />
                  )}
                >
                  Edit
                </DialogButton>
                <DeleteButton
                  small
                  name={nameOf(price)}
                  kind="price"
                  onConfirm={() => replacePrice(orgSlug.value, nameOf(price), null)}
                  onDone={onChange}
                >
                  Later turns cost the next price that fits, such as the list price. Without one their cost is unknown.
                </DeleteButton>
              </>
            )}
          />
          {add}
        </>
      )}
    </Card>
  );
}

function ListPrices({ prices, onChange }: Props) {
  const { asOf, prices: listed } = prices.listPrices;
  const own = new Set(prices.prices.map(nameOf));
  const currency = listed[0]?.currency ?? prices.currency;
  const lead = `Of the providers' own pages as of ${asOf}, in ${currency}, for usual requests. Providers change them.`;
  const others = ` None is in force, since the own prices are in ${prices.currency}.`;
  return (
    <Card title="List prices" lead={currency === prices.currency ? lead : lead + others}>
      <Table
        label="List prices"
        rows={listed}
        keyOf={nameOf}
        about={({ source }) =>
          source !== "" && (
            <a href={source} target="_blank" rel="noreferrer">
              {new URL(source).host}
            </a>
          )
        }
        columns={columns}
        actionsTo="org:write"
        actions={(price) =>
          !own.has(nameOf(price)) && (
            <DialogButton
              small
              dialog={(onClose) => <PriceDialog prices={prices} price={price} onSaved={onChange} onClose={onClose} />}
            >
              Set own price
            </DialogButton>
          )
        }
      />
    </Card>
  );
}

const columns: readonly [Column<ModelPrice>, ...Column<ModelPrice>[]] = [
  { title: "Model", cell: (price) => <code>{nameOf(price)}</code> },
  { title: "Input", end: true, cell: (price) => amountText(price, price.inputPerMillion) },
  { title: "Cached input", end: true, cell: (price) => amountText(price, price.cachedInputPerMillion) },
  { title: "Cache write", end: true, cell: (price) => amountText(price, price.cacheWritePerMillion) },
  { title: "Output", end: true, cell: (price) => amountText(price, price.outputPerMillion) },
];

/** An amount of the currency's unit; null is the price of other input. */
const amountText = ({ currency }: ModelPrice, amount: number | null) =>
  amount === null ? <span class="soft">as input</span> : exactMoneyText(amount * 1_000_000, currency);
