import { createInterface } from "node:readline";

// An MCP server on its standard streams with a hundred tools that nobody calls.

const inputSchema = {
  type: "object",
  properties: { query: { type: "string", description: "What to look for." }, limit: { type: "integer" } },
  required: ["query"],
};
const tools = Array.from({ length: 100 }, (_, index) => ({
  name: `tool-${index}`,
  description: `Looks something up in the register number ${index}, and says what it found there.`,
  inputSchema,
}));
const results: Record<string, object> = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "many", version: "1" },
  },
  "tools/list": { tools },
};

createInterface(process.stdin).on("line", (line) => {
  const { id, method } = JSON.parse(line) as { id?: number; method: string };
  const result = results[method];
  if (id !== undefined && result) process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
});
