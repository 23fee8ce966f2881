// Of undici only these parts are loaded, since all of it takes a start five times as long. Its types name the whole.

declare module "undici/lib/dispatcher/client.js" {
  import { Client } from "undici";
  export = Client;
}

declare module "undici/lib/dispatcher/env-http-proxy-agent.js" {
  import { EnvHttpProxyAgent } from "undici";
  export = EnvHttpProxyAgent;
}
