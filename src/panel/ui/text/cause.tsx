import { hrefOf } from "../../data/route.ts";
import { may } from "../../data/session.ts";

const policy = /\bpolicy httpAllowedHosts\b/;

/** Why something failed. If the text names a policy, the name is a link for people who may change it. */
export function Cause({ text }: { text: string }) {
  const { 0: name, index = 0 } = policy.exec(text) ?? {};
  if (name === undefined || !may("policy:manage")) return text;
  return (
    <>
      {text.slice(0, index)}
      <a href={hrefOf(["policies"])}>{name}</a>
      {text.slice(index + name.length)}
    </>
  );
}
