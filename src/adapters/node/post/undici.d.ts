// Only these parts of undici are loaded, since the whole package takes five times as long at a start. Its types cover
// only the whole package.

declare module "undici/lib/dispatcher/client.js" {
  import { Client } from "undici";
  export = Client;
}

declare module "undici/lib/dispatcher/env-http-proxy-agent.js" {
  import { EnvHttpProxyAgent } from "undici";
  export = EnvHttpProxyAgent;
}
