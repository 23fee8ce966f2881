import { ByteBound, type Limits } from "../limits/byte-bound.ts";
import { EgressError } from "./target.ts";

const mebibyte = 1024 * 1024;

/** Counts the bytes of unfinished responses to tools: a turn may wait for 64 of them. */
export const unfinishedAnswers = (limits: Limits = { most: 128 * mebibyte, mostOfOne: 96 * mebibyte }) =>
  new ByteBound(
    limits,
    () => new EgressError("Too many large answers come in at the same time: ask again later, or for less"),
  );
