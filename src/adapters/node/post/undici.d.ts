// Only these parts of undici are loaded: `undici` as a whole does not start on Node 22.13 (its `zstd` decoder), replaces
// the dispatcher of Node's own `fetch`, and takes half as long again to load. Its types cover all of it.

declare module "undici/lib/dispatcher/client.js" {
  import { Client } from "undici";
  export = Client;
}

declare module "undici/lib/dispatcher/env-http-proxy-agent.js" {
  import { EnvHttpProxyAgent } from "undici";
  export = EnvHttpProxyAgent;
}
