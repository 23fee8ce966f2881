import type { ComponentChildren } from "preact";
import { goTo, hrefOf } from "../data/route.ts";

interface Props {
  /** The page that the row leads to. */
  path: readonly string[];
  title: string;
  /** Below the title. */
  about: ComponentChildren;
  /** The further cells. */
  children: ComponentChildren;
}

/** A row of a table that leads to a page: a click anywhere does, and the link is for keys. */
export const LinkRow = ({ path, title, about, children }: Props) => (
  <tr class="go" onClick={() => goTo(path)}>
    <td>
      <a href={hrefOf(path)}>{title}</a>
      <div class="soft">{about}</div>
    </td>
    {children}
  </tr>
);
