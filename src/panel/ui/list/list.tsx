import { useSignal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import type { List as Listed } from "../../data/list/list.ts";
import type { Permission } from "../../data/session.ts";
import { Allowed } from "../allowed.tsx";
import { Button } from "../button.tsx";
import type { DialogProps } from "../form/form.tsx";
import { Page } from "../page.tsx";
import { Pager } from "./pager.tsx";
import { Filtered } from "./search.tsx";
import { Table, type TableProps } from "./table.tsx";
import { Empty, WhenLoaded } from "./when-loaded.tsx";

/** A row of a list. `edit` opens the dialog of an item. */
type Rows<Item> = Omit<TableProps<Item>, "rows" | "actions"> & {
  /** The buttons of a row. */
  actions?: (item: Item, edit: (item: Item) => void) => ComponentChildren;
};

interface ListOptions<Item> {
  of: Listed<Item>;
  /** Shown when the list is empty: a title and the next step, or a short text. */
  empty: readonly [title: string, text: string] | string;
  /** A link or a button to create an item, for people with the permission. */
  add?: VNode | { label: string; to?: Permission };
  /** The dialog that creates an item (null) or changes it. */
  dialog?: (item: Item | null, props: DialogProps) => VNode | null;
  /** The next step when the list is empty, other than a new item. */
  next?: VNode;
  /** The number of placeholder lines while the items are read. */
  lines?: number;
  /** The texts of the paging buttons, for a list that does not begin with its newest item. */
  newer?: string;
  older?: string;
  /** Shown next to the buttons. */
  beside?: VNode;
  /** Adds a field that filters many items by words in these texts. */
  search?: { textsOf: (item: Item) => readonly string[]; none: string };
}

/** The properties of a list: a table, or another view of its items. */
type Props<Item> = ListOptions<Item> &
  (Rows<Item> | { children: (items: readonly Item[], edit: (item: Item) => void) => ComponentChildren });

/** A list: its items, or why there are none; its paging; and the dialog for a new or changed item. */
export const List = <Item,>(props: Props<Item>) => {
  const { button, content } = useParts(props);
  return (
    <>
      {button && <div class="actions">{button}</div>}
      {content}
    </>
  );
};

interface PageProps {
  title: string;
  lead?: string;
  /** Shown next to the button for a new item. */
  extra?: ComponentChildren;
  /** Shown above the items, such as search fields. */
  head?: ComponentChildren;
}

/** `List` as a page. */
export const ListPage = <Item,>({ title, lead, extra, head, ...list }: PageProps & Props<Item>) => {
  const { button, content } = useParts(list);
  return (
    <Page
      title={title}
      lead={lead}
      actions={
        <div class="actions">
          {extra}
          {button}
        </div>
      }
    >
      {head}
      {content}
    </Page>
  );
};

/** When the list is empty, puts the button for a new item into its text; otherwise beside the items. */
function useParts<Item>(props: Props<Item>) {
  const { of, empty, add, next, dialog, lines, newer, older, beside, search } = props;
  /** The item in the open dialog; null: a new one; undefined: no dialog. */
  const edited = useSignal<Item | null | undefined>(undefined);
  const edit = (item: Item | null | undefined) => {
    edited.value = item;
  };
  const view = (items: readonly Item[]) => {
    if ("children" in props) return props.children(items, edit);
    const { actions, ...table } = props;
    return <Table {...table} rows={items} {...(actions && { actions: (item: Item) => actions(item, edit) })} />;
  };
  const button =
    add && "label" in add ? (
      <Allowed to={add.to}>
        <Button look="primary" onClick={() => edit(null)}>
          {add.label}
        </Button>
      </Allowed>
    ) : (
      add
    );
  const part = of.value.value;
  const isEmpty = part?.total === 0;
  const content = (
    <>
      <WhenLoaded of={of} lines={lines}>
        {({ items, ...numbers }) => {
          const pager = <Pager {...numbers} newer={newer} older={older} onOffset={of.onOffset} />;
          return (
            <>
              {isEmpty &&
                (typeof empty === "string" ? (
                  <p class="soft">{empty}</p>
                ) : (
                  <Empty title={empty[0]}>
                    <p>{empty[1]}</p>
                    {next ?? button}
                  </Empty>
                ))}
              {items.length > 0 &&
                (search ? (
                  <Filtered {...search} items={items}>
                    {view}
                  </Filtered>
                ) : (
                  view(items)
                ))}
              {beside && !isEmpty ? (
                <div class="part-head">
                  {beside}
                  {pager}
                </div>
              ) : (
                pager
              )}
            </>
          );
        }}
      </WhenLoaded>
      {edited.value !== undefined && dialog?.(edited.value, { onSaved: of.reload, onClose: () => edit(undefined) })}
    </>
  );
  return { button: part && !isEmpty && button, content };
}
