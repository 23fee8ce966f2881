import { hrefOf } from "../../../../data/route.ts";
import { may } from "../../../../data/session.ts";
import { Code } from "../../../../ui/code.tsx";
import { Note } from "../../../../ui/note.tsx";
import { isThisMachine } from "./this-machine.ts";

/** Where a source's events are posted, with a warning where other machines can't. */
export const Address = ({ url }: { url: string }) => (
  <>
    <Code label="Address for its events" text={url} />
    {isThisMachine(url) && (
      <Note look="warn">
        <p>
          Only programs on this machine reach this address. For others,{" "}
          {may("policy:manage") ? <a href={hrefOf(["policies"])}>the public address</a> : "the public address"} of this
          installation must be set.
        </p>
      </Note>
    )}
  </>
);
