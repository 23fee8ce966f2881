import type { Plugin } from "../src/core/plugins/plugin.ts";

/** The part of docs/plugins.md that lists these plugins. */
export function pluginTables(plugins: readonly Plugin[]): string {
  return plugins.map(section).join("\n\n");
}

function section({ namespace, title, hosts, secrets, tools }: Plugin): string {
  const rows = tools.map(
    ({ name, description, needsApproval }) =>
      `| ${code(`${namespace}:${name}`)} | ${cell(description)} | ${needsApproval ? "yes" : "no"} |`,
  );
  return [
    `### ${title}`,
    "",
    ...secretLines(secrets),
    `- Hosts: ${list(hosts)}`,
    "",
    "| Tool | Does, in the words that the model reads | Asks for approval |",
    "|---|---|---|",
    ...rows,
  ].join("\n");
}

/** A line for each secret; secrets that only work together share one description and one line. */
function secretLines(secrets: Plugin["secrets"]): string[] {
  if (secrets.length === 0) return ["- Secrets: none"];
  return [...Map.groupBy(secrets, ({ description }) => description)].map(([description = "", those]) => {
    const optional = those.every((one) => one.optional) ? ", optional" : "";
    return `- Secrets: ${list(those.map(({ key }) => key))}${optional}. ${description}`.trimEnd();
  });
}

const code = (text: string) => `\`${text}\``;
const list = (items: readonly string[]) => (items.length === 0 ? "none" : items.map(code).join(", "));
const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ");
