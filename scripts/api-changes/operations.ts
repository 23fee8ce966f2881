// Compares two documents, operation by operation.
import {
  type Answer,
  type Change,
  type Content,
  type Document,
  type Operation,
  type Parameter,
  type Place,
  type Report,
  same,
} from "./document.ts";
import { type CompareSchemas, schemaComparison } from "./schemas.ts";

/** Every change that a client may notice, each once, breaking ones first. */
export function compareDocuments(before: Document, after: Document): Change[] {
  const changes = new Map<string, Change>();
  const note = (breaking: boolean, subject: string, where: string, text: string) => {
    const line = `${subject}${where}: ${text}`;
    changes.set(line, { breaking, subject, text: line });
  };
  const report: Report = (breaking, { subject, path, direction }, text) => {
    const ofOperation = subject.includes(" ");
    const space = path === "" ? "" : " ";
    const where = ofOperation ? space + path : `${path} (in ${direction}s)`;
    note(breaking, subject, where, text);
  };
  const compare = schemaComparison(before, after, report);
  const [old, now] = [operationsOf(before), operationsOf(after)];
  for (const [subject, was] of old) {
    const is = now.get(subject);
    if (is) compareOperation(was, is, subject, report, compare);
    else report(true, placeOf(subject), "is gone");
  }
  for (const subject of now.keys()) if (!old.has(subject)) report(false, placeOf(subject), "is new");
  compareSchemes(before, after, note);
  compareNames(before, after, note);
  return [...changes.values()].sort((one, other) => Number(other.breaking) - Number(one.breaking));
}

type Note = (breaking: boolean, subject: string, where: string, text: string) => void;

const placeOf = (subject: string, path = "", direction: Place["direction"] = "answer"): Place => ({
  subject,
  path,
  direction,
});

function operationsOf({ paths }: Document): Map<string, Operation> {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
  );
  return new Map(operations);
}

function compareOperation(was: Operation, is: Operation, subject: string, report: Report, compare: CompareSchemas) {
  // Client methods have that name.
  if (was.operationId !== is.operationId)
    report(true, placeOf(subject), `operationId was ${was.operationId}, is ${is.operationId}`);
  if (is.deprecated && !was.deprecated) report(false, placeOf(subject), "is deprecated");
  comparePermission(was["x-permission"], is["x-permission"], subject, report);
  compareFeature(was["x-feature"], is["x-feature"], subject, report);
  compareSecurity(was.security, is.security, subject, report);
  compareParameters(was.parameters ?? [], is.parameters ?? [], subject, report, compare);
  compareBody(was, is, subject, report, compare);
  compareAnswers(was.responses, is.responses, subject, report, compare);
}

/**
 * Compares permissions. The document does not contain the roles' permissions, so any other permission may be one that a
 * caller lacks.
 */
function comparePermission(was: string | undefined, is: string | undefined, subject: string, report: Report) {
  if (was === is) return;
  if (is === undefined) report(false, placeOf(subject), `needs no permission any more, it was ${was}`);
  else report(true, placeOf(subject), `needs the permission ${is}${was === undefined ? "" : `, it was ${was}`}`);
}

/** Compares features. A route that got one is absent in the open edition. */
function compareFeature(was: string | undefined, is: string | undefined, subject: string, report: Report) {
  if (was === is) return;
  if (is === undefined) report(false, placeOf(subject), `belongs to both editions, it was of the feature ${was}`);
  else report(true, placeOf(subject), `belongs to the feature ${is} of the managed edition`);
}

function compareSecurity(was: Operation["security"], is: Operation["security"], subject: string, report: Report) {
  const ways = (security: Operation["security"]) =>
    new Set((security?.length ? security : [{}]).map((way) => Object.keys(way).sort().join(" and ") || "nothing"));
  const [before, after] = [ways(was), ways(is)];
  for (const way of before) {
    if (!after.has(way) && !after.has("nothing"))
      report(true, placeOf(subject), `no longer takes ${way} as credential`);
  }
  for (const way of after) if (!before.has(way)) report(false, placeOf(subject), `takes ${way} as credential`);
}

function compareParameters(
  before: Parameter[],
  after: Parameter[],
  subject: string,
  report: Report,
  compare: CompareSchemas,
) {
  const key = (parameter: Parameter) => `${parameter.in} ${parameter.name}`;
  const now = new Map(after.map((parameter) => [key(parameter), parameter]));
  for (const was of before) {
    const at = placeOf(subject, key(was), "request");
    const is = now.get(key(was));
    now.delete(key(was));
    if (!is) {
      report(true, at, "is gone");
      continue;
    }
    if (is.required && !was.required) report(true, at, "is required now");
    if (was.required && !is.required) report(false, at, "is optional now");
    compare(was.schema ?? {}, is.schema ?? {}, at);
  }
  for (const [name, { required }] of now) {
    const at = placeOf(subject, name, "request");
    report(required === true, at, required ? "is new and required" : "is new");
  }
}

function compareBody(was: Operation, is: Operation, subject: string, report: Report, compare: CompareSchemas) {
  const [before, after] = [was.requestBody, is.requestBody];
  const at = placeOf(subject, "body", "request");
  if (before && !after) report(true, at, "is gone");
  if (after?.required && !before?.required) report(true, at, before ? "is required now" : "is new and required");
  if (before?.required && after && !after.required) report(false, at, "is optional now");
  if (!before && after && !after.required) report(false, at, "is new");
  if (before && after) compareContent(before.content, after.content, at, report, compare);
}

function compareContent(before: Content, after: Content, place: Place, report: Report, compare: CompareSchemas) {
  for (const [type, was] of Object.entries(before)) {
    const is = after[type];
    if (is) compare(was.schema ?? {}, is.schema ?? {}, place);
    else report(true, place, `is no longer ${type}`);
  }
  for (const type of Object.keys(after)) if (!before[type]) report(false, place, `may be ${type}`);
}

function compareAnswers(
  before: Record<string, Answer>,
  after: Record<string, Answer>,
  subject: string,
  report: Report,
  compare: CompareSchemas,
) {
  for (const [status, was] of Object.entries(before)) {
    const at = placeOf(subject, status);
    const is = after[status];
    if (!is) {
      report(true, at, "is gone");
      continue;
    }
    compareContent(was.content ?? {}, is.content ?? {}, at, report, compare);
    compareHeaders(was.headers ?? {}, is.headers ?? {}, at, report, compare);
  }
  for (const status of Object.keys(after)) if (!before[status]) report(false, placeOf(subject, status), "is new");
}

type Headers = NonNullable<Answer["headers"]>;

function compareHeaders(before: Headers, after: Headers, place: Place, report: Report, compare: CompareSchemas) {
  for (const [name, was] of Object.entries(before)) {
    const at = { ...place, path: `${place.path} header ${name}` };
    const is = after[name];
    if (!is) report(true, at, "is gone");
    else {
      if (was.required && !is.required) report(true, at, "is optional now");
      compare(was.schema ?? {}, is.schema ?? {}, at);
    }
  }
  for (const name of Object.keys(after)) {
    if (!before[name]) report(false, { ...place, path: `${place.path} header ${name}` }, "is new");
  }
}

/** Compares how credentials are sent; removed ones are reported by their operations. */
function compareSchemes(before: Document, after: Document, note: Note) {
  const now = after.components?.securitySchemes ?? {};
  for (const [name, { description: _was, ...was }] of Object.entries(before.components?.securitySchemes ?? {})) {
    const { description: _is, ...is } = now[name] ?? was;
    if (!same(was, is)) note(true, name, " (credential)", `was ${JSON.stringify(was)}, is ${JSON.stringify(is)}`);
  }
}

/** Compares the schemas' names, which are types of the client that programs use. */
function compareNames(before: Document, after: Document, note: Note) {
  const now = after.components?.schemas ?? {};
  for (const name of Object.keys(before.components?.schemas ?? {})) {
    if (!(name in now)) note(true, name, "", "no schema has that name any more");
  }
}
