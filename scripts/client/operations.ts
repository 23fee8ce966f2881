// Makes a method of the client for each operation of the document.
import {
  answerOf,
  type Content,
  type Document,
  type Endpoint,
  endpointsOf,
  isBinary,
  type Operation,
} from "./document.ts";
import { comment, declaration, field, typeOf } from "./types.ts";

const head = "// Made from openapi/openapi.json by `npm run generate`: change the routes instead.";

/** `src/client/generated/types.ts`: the schemas, each method's input, and the client itself. */
export function writeTypes(document: Document): string {
  const endpoints = endpointsOf(document);
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) => declaration(name, schema));
  return [
    head,
    'import type { CallOptions } from "../options.ts";',
    ...schemas,
    ...endpoints.map(({ operation }) => inputType(operation)).filter((type) => type !== ""),
    `/** All operations of a server, by their \`operationId\`. */\nexport interface AgentEngine {\n${endpoints.map(method).join("\n\n")}\n}`,
    "",
  ].join("\n\n");
}

/** `src/client/generated/operations.ts`: the data with which requests are sent. */
export function writeOperations(document: Document): string {
  const entries = endpointsOf(document).map((endpoint) => `  ${endpoint.operation.operationId}: ${row(endpoint)},`);
  return [
    head,
    'import type { Operation } from "../options.ts";',
    'import type { AgentEngine } from "./types.ts";',
    `export const operations: Record<keyof AgentEngine, Operation> = {\n${entries.join("\n")}\n};`,
    "",
  ].join("\n\n");
}

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const inputName = ({ operationId }: Operation) => `${capitalised(operationId)}Input`;

/** `If-Match` → `ifMatch`; names that are camel case already, such as `messageId`, stay the same. */
const camelCased = (name: string) =>
  /^[a-z][A-Za-z0-9]*$/.test(name)
    ? name
    : name.toLowerCase().replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

const parametersOf = ({ parameters = [] }: Operation) => parameters.filter((parameter) => parameter.in !== "cookie");

const isEmpty = (operation: Operation) => parametersOf(operation).length === 0 && !operation.requestBody;

const isOptional = (operation: Operation) =>
  !operation.requestBody?.required && parametersOf(operation).every(({ required }) => !required);

function inputType(operation: Operation): string {
  if (isEmpty(operation)) return "";
  const fields = parametersOf(operation).map(({ name, schema, required = false, description }) =>
    field({ name: camelCased(name), schema, required, description }),
  );
  const { requestBody } = operation;
  if (requestBody) fields.push(`body${requestBody.required ? "" : "?"}: ${bodyType(operation, requestBody.content)};`);
  const names = fields.map((text) => /^"?(\w+)"?\??: /m.exec(text)?.[1]);
  if (new Set(names).size < names.length) throw new Error(`${operation.operationId} has two inputs of one name`);
  return `export interface ${inputName(operation)} {\n${fields.join("\n")}\n}`;
}

function bodyType({ responses }: Operation, content: Content): string {
  const json = content["application/json"];
  const types = json ? [typeOf(json.schema)] : [];
  if (Object.keys(content).some(isBinary)) types.push("Blob", "ArrayBuffer", "Uint8Array<ArrayBuffer>");
  const body = types.join(" | ");
  const streams = Object.values(responses).some(
    (response) => response.content?.["application/json"] && response.content["text/event-stream"],
  );
  // The method returns JSON only. Streams in this format are for clients of the chat-completions protocol.
  return streams ? `${body} & { stream?: false | null }` : body;
}

function method({ operation }: Endpoint): string {
  const { kind, schema } = answerOf(operation);
  const input = isEmpty(operation)
    ? "input?: Record<string, never>"
    : `input${isOptional(operation) ? "?" : ""}: ${inputName(operation)}`;
  const type = schema ? typeOf(schema) : kind === "blob" ? "Blob" : "void";
  const answer = kind === "events" ? `AsyncGenerator<${type}, void, undefined>` : `Promise<${type}>`;
  const text = `${operation.summary}.\n\n${operation.description}`;
  return `${comment(text)}${operation.operationId}(${input}, options?: CallOptions): ${answer};`;
}

function row({ method: verb, path, operation }: Endpoint): string {
  const of = (place: string) =>
    Object.fromEntries(
      parametersOf(operation)
        .filter((parameter) => parameter.in === place)
        .map(({ name }) => [camelCased(name), name]),
    );
  const [query, headers] = [of("query"), of("header")];
  return JSON.stringify({
    method: verb,
    path,
    answer: answerOf(operation).kind,
    ...(Object.keys(query).length > 0 ? { query } : {}),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
  });
}
