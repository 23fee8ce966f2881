import { type Asked, type Choice, serveFloor } from "./floor.ts";

// The first floor: no library between the model's bytes and ours.

async function* relay({ model, messages }: Asked, signal: AbortSignal): AsyncGenerator<Choice> {
  const upstream = await fetch(`${process.env.MODEL_URL}/v1/chat/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ model, stream: true, messages }),
    signal,
  });
  for await (const data of events(upstream)) {
    if (data === "[DONE]") return;
    const choice = (JSON.parse(data) as { choices: Choice[] }).choices[0];
    if (choice) yield choice;
  }
}

async function* events({ body }: Response): AsyncGenerator<string> {
  let rest = "";
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (rest + piece).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) yield block.slice("data: ".length);
  }
}

await serveFloor(relay);
