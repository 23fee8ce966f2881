import type { ComponentChildren } from "preact";
import { goTo, hrefOf } from "../../data/route.ts";
import { may, type Permission } from "../../data/session.ts";

export interface Column<Row> {
  title: string;
  /** Aligns the column at the end of the line, for numbers and times. */
  end?: boolean;
  cell: (row: Row) => ComponentChildren;
}

export interface TableProps<Row> {
  /** The name of the rows, for screen readers. */
  label: string;
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** The first column names the row. */
  columns: readonly [Column<Row>, ...Column<Row>[]];
  /** The page of a row. A click anywhere in the row opens it; the link in the first cell is for the keyboard. */
  pathOf?: (row: Row) => readonly string[];
  /** Shown below the first cell's text. */
  about?: (row: Row) => ComponentChildren;
  /** The buttons of a row. */
  actions?: (row: Row) => ComponentChildren;
  /** The permission to see the buttons. */
  actionsTo?: Permission;
}

/** Whether a click was on the row itself: not on a control in it, and not at the end of selecting text. */
const isOnRow = ({ target }: MouseEvent) =>
  target instanceof Element && !target.closest("a, button, input, select, label") && getSelection()?.type !== "Range";

/** Rows of the same kind; on a narrow screen each row is a card. A row with a page has a link for the keyboard. */
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
