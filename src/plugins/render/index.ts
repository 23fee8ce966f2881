import { definePlugin, type Plugin } from "../../core/plugins/plugin.ts";
import { hostOf } from "../json-api.ts";
import { keyName, renderApi } from "./api.ts";
import { deployTools } from "./deploys.ts";
import { serviceTools } from "./services.ts";

/** Services and deploys on Render, or at `baseUrl`, which ends before `/services`. */
export function renderPlugin({ baseUrl = "https://api.render.com/v1" }: { baseUrl?: string | undefined } = {}): Plugin {
  const ask = renderApi(baseUrl);
  return definePlugin({
    namespace: "render",
    title: "Render",
    hosts: [hostOf(baseUrl)],
    secrets: [
      {
        key: keyName,
        type: "text",
        label: "Render API key",
        description: "An API key, made in the account settings of the dashboard. It may do all that its owner may.",
        sensitive: true,
      },
    ],
    tools: [...serviceTools(ask), ...deployTools(ask)],
  });
}
