import type { ComponentChildren } from "preact";
import { goTo, hrefOf } from "../../data/route.ts";
import { may, type Permission } from "../../data/session.ts";

export interface Column<Row> {
  title: string;
  /** Set at the end of the line, as numbers and times are. */
  end?: boolean;
  cell: (row: Row) => ComponentChildren;
}

export interface TableProps<Row> {
  /** What the rows are, for those who hear the page. */
  label: string;
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** The first names the row. */
  columns: readonly [Column<Row>, ...Column<Row>[]];
  /** The page that a row leads to: a click anywhere in the row does, and the link of the first cell is for keys. */
  pathOf?: (row: Row) => readonly string[];
  /** Below the first cell's text. */
  about?: (row: Row) => ComponentChildren;
  /** The buttons of a row. */
  actions?: (row: Row) => ComponentChildren;
  /** People without this permission see no buttons. */
  actionsTo?: Permission;
}

/** Whether a click meant the row: not something in it that does more, nor the end of a selection of text. */
const isOnRow = ({ target }: MouseEvent) =>
  target instanceof Element && !target.closest("a, button, input, select, label") && getSelection()?.type !== "Range";

/** Rows of the same kind; on a narrow screen each row is a card. A row that leads to a page has a link for keys. */
export function Table<Row>({ label, rows, keyOf, columns, pathOf, about, actions, actionsTo }: TableProps<Row>) {
  const [first, ...others] = columns;
  const acts = actionsTo === undefined || may(actionsTo);
  const buttons = (row: Row) => {
    const shown = acts && actions?.(row);
    return shown && <div class="actions">{shown}</div>;
  };
  const further = actions ? [...others, { title: "Actions", end: true, cell: buttons }] : others;
  return (
    <div class="table-frame">
      <table class="table" aria-label={label}>
        <thead>
          <tr>
            {[first, ...further].map(({ title, end }) => (
              <th key={title} scope="col" class={end ? "end" : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const path = pathOf?.(row);
            return (
              <tr key={keyOf(row)} class={path && "go"} onClick={path && ((event) => isOnRow(event) && goTo(path))}>
                <th scope="row">
                  {path ? <a href={hrefOf(path)}>{first.cell(row)}</a> : first.cell(row)}
                  {about && <div class="soft">{about(row)}</div>}
                </th>
                {further.map(({ title, end, cell }) => (
                  <td key={title} data-title={title} class={end ? "end" : undefined}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
