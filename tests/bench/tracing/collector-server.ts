import { createServer } from "node:http";
import { announce } from "../processes.ts";

// A collector of traces that accepts everything, and says how many spans it got.

let spans = 0;

announce(
  createServer((request, response) => {
    if (request.url === "/spans") return void response.end(String(spans));
    let text = "";
    request.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    request.on("end", () => {
      spans += text.split('"spanId"').length - 1;
      response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
    });
  }),
);
